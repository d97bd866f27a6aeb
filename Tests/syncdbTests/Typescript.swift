import Foundation

/// The program on a terminal of its own, as `script` of util-linux makes one.
enum Typescript {
    private static let script = "/usr/bin/script"
    static let isThere = FileManager.default.isExecutableFile(atPath: script)

    /// What a person sees: standard output and standard error, as the terminal gets them.
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
