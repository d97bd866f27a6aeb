import Foundation
import TestSize
import Testing

@Suite("Streamed rows")
struct StreamingTests {
    private let sandbox: Sandbox

    /// Opens a store of forty thousand tags: several megabytes in every format.
    init() throws {
        sandbox = try Sandbox()
        try Self.tags.get().write(to: sandbox.folder.appendingPathComponent("app.sqlite"))
    }

    private static let tags = Result {
        let sandbox = try Sandbox()
        let name = String(repeating: "n", count: 80)
        let lines = (1...40_000).map { "{\"id\": \($0), \"name\": \"\(name)\"}" }
        let file = try sandbox.file("tags.ndjson", lines.joined(separator: "\n"))
        let run = try sandbox.syncdb(
            "import", file, "--entity", "Tag", "--model", Sandbox.model, "-d", "app.sqlite", "--quiet")
        try #require(run.status == 0, "\(run.errors)")
        let files = try sandbox.databaseBytes()
        try #require(files.count == 1)
        return try #require(files["app.sqlite"])
    }

    private static let formats = ["table", "vertical", "json", "ndjson", "csv", "tsv", "markdown"]
    private static let someFormats = LongTests.some(formats, every: 3)

    @Test(
        "A reader that closes the pipe ends query and export without an error",
        arguments: someFormats, ["", "trap '' PIPE;"])
    func closedPipeIsNoError(format: String, trap: String) throws {
        for command in ["query", "export"] {
            let run = try sandbox.shell(
                "\(trap) \"$SYNCDB\" \(command) Tag -d app.sqlite --format \(format) | head -3")
            #expect(run.status == 0)
            #expect(run.errors == "")
            #expect(run.output.count(where: { $0 == "\n" }) == 3)
        }
    }

    @Test("The first rows are printed before the last ones are read", arguments: someFormats)
    func firstRowsArePrintedEarly(format: String) throws {
        // The full pipe blocks the program while most rows are unread.
        let process = Process()
        let pipe = Pipe()
        process.executableURL = try Program.syncdb()
        process.arguments = ["query", "Tag", "-d", "app.sqlite", "--format", format]
        process.currentDirectoryURL = sandbox.folder
        process.standardOutput = pipe
        try process.run()
        var start = Data()
        while start.count < 100, let more = try pipe.fileHandleForReading.read(upToCount: 100), !more.isEmpty {
            start.append(more)
        }
        #expect(start.count >= 100)
        #expect(process.isRunning)
        let name = process.processIdentifier
        // The program has neither the rows nor their text in memory: that would be five megabytes and more.
        if let before = Self.memory(of: name) {
            let rest = try pipe.fileHandleForReading.readToEnd() ?? Data()
            #expect(rest.count > 3_000_000)
            #expect(before < 200_000)
        }
        try pipe.fileHandleForReading.close()
        process.waitUntilExit()
    }

    @Test("The memory of a query does not grow with the number of rows", arguments: someFormats)
    func memoryDoesNotGrow(format: String) throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/time") else { return }
        func kilobytes(_ limit: Int) throws -> Int {
            let run = try sandbox.shell(
                "/usr/bin/time -f %M \"$SYNCDB\" query Tag -d app.sqlite --format \(format) --limit \(limit) > /dev/null"
            )
            return try #require(Int(run.errors.split(separator: "\n").last ?? ""), "\(run.errors)")
        }
        let few = try kilobytes(2_000)
        let many = try kilobytes(40_000)
        #expect(many - few < 10_000, "\(few) kB, then \(many) kB")
    }

    /// Returns the peak memory in kilobytes, or nil if the system does not report it.
    private static func memory(of process: Int32) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }
    }
}
