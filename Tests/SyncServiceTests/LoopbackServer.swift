import Foundation

/// Starts test servers on a free port of the loopback interface. A server prints the port at the end of its first line,
/// and ends when its input ends. Its errors are on standard error.
enum LoopbackServer {
    static func run(_ program: String, _ arguments: [String], input: Pipe) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    /// Runs a script of `Tests/Servers`.
    static func python(_ script: String, input: Pipe) throws -> (process: Process, output: Pipe) {
        // If these tests are part of another package, their folder is a symbolic link.
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try run(
            "/usr/bin/env", ["python3", folder.appendingPathComponent("Servers/\(script)").path], input: input)
    }

    static func address(_ line: String, of name: String) throws -> URL {
        guard let port = line.split(separator: " ").last.flatMap({ Int($0) }),
            let url = URL(string: "http://127.0.0.1:\(port)")
        else { throw ServerFailure(text: "\(name) did not start: '\(line)'") }
        return url
    }
}
