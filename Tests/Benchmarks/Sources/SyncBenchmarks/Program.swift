import Foundation

/// Benchmarks that run in the process of the library. Each prints JSON, which `run.py` formats as tables.
///
///     sync-benchmarks pieces  MODEL ENTITY PAYLOAD [ENTITY PAYLOAD of rows to store before]
///     sync-benchmarks calls   DATABASE ENTITY PARENT|- PAYLOAD…
///     sync-benchmarks readers DATABASE ENTITY PAYLOAD…
@main
enum Program {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            fail("error: \(error)", 1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("pieces", 4), ("pieces", 6):
            var pieces = try Pieces(model: arguments[1], entity: arguments[2], payload: arguments[3])
            if arguments.count == 6 { pieces.storedBefore = (arguments[4], try contents(arguments[5])) }
            try output(await pieces.measure())
        case ("calls", 5...):
            let calls = Calls(database: arguments[1], entity: arguments[2], parent: arguments[3])
            try output(await calls.measure(Array(arguments[4...])))
        case ("readers", 4...):
            let readers = Readers(database: arguments[1], entity: arguments[2])
            try output(await readers.measure(Array(arguments[3...])))
        default:
            fail("usage: sync-benchmarks pieces|calls|readers …", 2)
        }
    }

    private static func fail(_ message: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(code)
    }

    private static func output(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// Reads a file that the command line names.
func contents(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
}
