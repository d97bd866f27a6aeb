import Foundation
import Sync
import Testing

/// The stub `Tests/Servers/answers.py`: a service that says what a test has it say, and ends with it.
final class AnswerServer {
    let url: String
    private let process = Process()
    private let input = Pipe()
    private let file: URL

    /// - Parameter folder: Where its answers are kept.
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

    /// Has it say something else from now on.
    func say(_ answers: JSONValue) throws { try JSONEncoder().encode(answers).write(to: file, options: .atomic) }

    /// The requests so far, with their bodies.
    var log: [String] {
        get throws {
            let log = URL(fileURLWithPath: file.path + ".log")
            return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    /// What those requests say of who the user is.
    var authorizations: [String] {
        get throws {
            let log = URL(fileURLWithPath: file.path + ".authorizations")
            return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }
}
