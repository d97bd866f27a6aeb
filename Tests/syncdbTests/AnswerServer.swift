import Foundation
import Sync
import Testing

/// The stub `Tests/Servers/answers.py`: a service with the responses of a test, which ends with this object.
final class AnswerServer {
    let url: String
    private let process = Process()
    private let input = Pipe()
    private let file: URL

    /// - Parameter folder: The folder for the responses.
    init(in folder: URL, _ answers: JSONValue) throws {
        file = folder.appendingPathComponent("answers.json")
        try JSONEncoder().encode(answers).write(to: file, options: .atomic)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Servers/answers.py")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path, file.path]
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data([10]) {
            line += byte
        }
        let port = try #require(String(decoding: line, as: UTF8.self).split(separator: " ").last)
        url = "http://127.0.0.1:\(port)"
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// Replaces the responses.
    func say(_ answers: JSONValue) throws { try JSONEncoder().encode(answers).write(to: file, options: .atomic) }

    /// The requests so far, with their bodies.
    var log: [String] {
        get throws {
            let log = URL(fileURLWithPath: file.path + ".log")
            return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    /// The `Authorization` headers of those requests.
    var authorizations: [String] {
        get throws {
            let log = URL(fileURLWithPath: file.path + ".authorizations")
            return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }
}
