import ArgumentParser
import Foundation
import Sync

/// Where the bytes go that a command makes.
enum ExportDestination {
    typealias Write = OutputFile.Write

    case standardOutput
    case file(OutputFile)
    /// A file whose name says that it is packed.
    case packed(OutputFile)

    /// - Parameters:
    ///   - argument: A path; nil and `-` are standard output.
    ///   - inputs: What the command reads, which is never written over.
    init(_ argument: String?, besides inputs: CommandInputs) throws {
        guard let argument, argument != "-" else {
            self = .standardOutput
            return
        }
        let file = try OutputFile(argument, besides: inputs)
        self = PayloadSource.file(argument).hasGzipName ? .packed(file) : .file(file)
    }

    /// Lets `body` write.
    ///
    /// - Throws: What it throws; `unreadableFile` if the file cannot be written. There is no new file then.
    func write(_ body: (@escaping Write) async throws -> Void) async throws {
        switch self {
        case .standardOutput: try await body(Self.writeOutput)
        case .file(let file): try await file.write(body)
        case .packed(let file):
            try await file.write { write in
                let deflation = try Deflation()
                try await body { data in try write(deflation.pack(data)) }
                try write(deflation.finish())
            }
        }
    }

    /// A reader that has seen enough, as `head` has, is no failure.
    private static func writeOutput(_ data: Data) throws {
        guard try Terminal.write(json: data) else { throw ExitCode.success }
    }
}
