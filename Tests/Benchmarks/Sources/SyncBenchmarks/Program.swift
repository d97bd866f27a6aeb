import Foundation

/// Benchmarks that need the library in the same process. Each prints JSON; `run.py` makes tables of it.
///
///     sync-benchmarks pieces  MODEL ENTITY PAYLOAD
///     sync-benchmarks calls   DATABASE ENTITY PARENT|- PAYLOAD…
///     sync-benchmarks readers DATABASE ENTITY PAYLOAD…
@main
enum Program {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("pieces", 4):
            let pieces = try Pieces(model: arguments[1], entity: arguments[2], payload: arguments[3])
            try output(await pieces.measure())
        case ("calls", 5...):
            let calls = Calls(database: arguments[1], entity: arguments[2], parent: arguments[3])
            try output(await calls.measure(Array(arguments[4...])))
        case ("readers", 4...):
            let readers = Readers(database: arguments[1], entity: arguments[2])
            try output(await readers.measure(Array(arguments[3...])))
        default:
            FileHandle.standardError.write(Data("usage: sync-benchmarks pieces|calls|readers …\n".utf8))
            exit(2)
        }
    }

    private static func output(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// A file named on the command line.
func contents(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
}
