import Foundation

/// Runs the program on a separate terminal, made by `script` of util-linux.
enum Typescript {
    private static let script = "/usr/bin/script"
    static let isThere = FileManager.default.isExecutableFile(atPath: script)

    /// Returns standard output and standard error as the terminal receives them.
    static func run(
        _ arguments: [String], in folder: URL, _ environment: [String: String] = [:]
    ) throws -> Program.Run {
        let words = [try Program.syncdb().path] + arguments
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        return try Program.run(
            ["-qec", command, "/dev/null"], executable: URL(fileURLWithPath: script), in: folder,
            environment: ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 })
    }
}
