import Foundation
import Testing

/// The built program, run as a user runs it.
struct Program {
    /// The exit code and the output of one run.
    struct Run {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs `syncdb`, or another program, with these arguments in a folder.
    static func run(
        _ arguments: [String], executable: URL? = nil, in folder: URL, input: String = "", inputData: Data? = nil,
        environment: [String: String] = [:]
    ) throws -> Run {
        let process = Process()
        process.executableURL = try executable ?? syncdb()
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Files instead of pipes: a full pipe without a reader would block the program.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let contents = ["input": inputData ?? Data(input.utf8), "output": Data(), "errors": Data()]
        let files = try contents.reduce(into: [String: URL]()) { files, file in
            let url = scratch.appendingPathComponent(file.key)
            try file.value.write(to: url)
            files[file.key] = url
        }
        process.standardInput = try FileHandle(forReadingFrom: try #require(files["input"]))
        process.standardOutput = try FileHandle(forWritingTo: try #require(files["output"]))
        process.standardError = try FileHandle(forWritingTo: try #require(files["errors"]))
        try process.run()
        process.waitUntilExit()
        return Run(
            status: process.terminationStatus,
            output: try String(contentsOf: try #require(files["output"]), encoding: .utf8),
            errors: try String(contentsOf: try #require(files["errors"]), encoding: .utf8))
    }

    /// Returns the program, which is beside the test bundle in the build folder.
    static func syncdb() throws -> URL {
        var folder = Bundle.main.bundleURL
        let started = [URL(fileURLWithPath: CommandLine.arguments[0]), Bundle.main.executableURL].compactMap { $0 }
        for start in started + Bundle.allBundles.map(\.bundleURL) {
            folder = start.resolvingSymlinksInPath()
            while folder.path.count > 1 {
                let candidate = folder.appendingPathComponent("syncdb")
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder), !isFolder.boolValue {
                    return candidate
                }
                folder.deleteLastPathComponent()
            }
        }
        throw MissingProgram()
    }

    struct MissingProgram: Error {}
}
