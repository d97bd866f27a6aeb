import Foundation
import Testing

/// Signals during an import.
@Suite("Interrupted imports")
struct InterruptionTests {
    /// Prints an endless list, so that no import of it ends before the signal.
    private static let endless = #"printf '['; exec yes '{"id":1,"first_name":"N","notes":[{"id":1}]},'"#

    /// Starts an import, and sends it a signal once it has created a file.
    private func interrupt(
        _ sandbox: Sandbox, with signal: Int32, after files: [String] = [], onceThereIs isThere: ([String]) -> Bool
    ) throws -> (status: Int32, errors: String) {
        let source = Process()
        source.executableURL = URL(fileURLWithPath: "/bin/sh")
        source.arguments = ["-c", Self.endless]
        let list = Pipe()
        source.standardOutput = list
        let process = Process()
        process.executableURL = try Program.syncdb()
        process.arguments =
            ["import"] + files + [
                "-", "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite", "--max-delete", "100%",
                "--whole-up-to", "1K",
            ]
        process.currentDirectoryURL = sandbox.folder
        let errors = sandbox.folder.appendingPathComponent("errors")
        try Data().write(to: errors)
        process.standardInput = list
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardOutput = FileHandle.nullDevice
        try source.run()
        defer { source.terminate() }
        try process.run()
        while process.isRunning, try !isThere(sandbox.files) { usleep(2_000) }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        defer { try? FileManager.default.removeItem(at: errors) }
        return (process.terminationStatus, try String(contentsOf: errors, encoding: .utf8))
    }

    @Test(
        "An interrupted import into a new database leaves no file",
        arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func interruptedFirstImport(signal: Int32, status: Int32) throws {
        let sandbox = try Sandbox()
        let end = try interrupt(sandbox, with: signal) { files in files.contains { $0.hasPrefix(".") } }
        #expect(end.status == status)
        #expect(end.errors == "error: interrupted; nothing was written\n")
        #expect(try sandbox.files == [])
    }

    @Test("An interrupted import leaves the database unchanged and ready for the next one")
    func interruptedLaterImport() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let before = try sandbox.databaseDump()
        let end = try interrupt(sandbox, with: SIGINT) { $0.contains("app.sqlite-wal") }
        #expect(end.status == 130)
        #expect(try sandbox.databaseDump() == before)
        #expect(try sandbox.importUsers(Sandbox.day2).status == 0)
    }

    @Test("An interrupted import of several files names those that were written")
    func interruptedImportOfFiles() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let end = try interrupt(sandbox, with: SIGINT, after: [Sandbox.day2]) { $0.contains("app.sqlite-wal") }
        #expect(end.status == 130)
        let possible = [
            "error: interrupted; nothing was written\n",
            "error: interrupted; only a part was written\n"
                + "note: \(Sandbox.day2) was imported before the error; no omitted rows were deleted\n",
        ]
        #expect(possible.contains(end.errors), "\(end.errors)")
        // The message is true: day 2 has user 9.
        #expect(try sandbox.count("User", where: "id == 9") == (end.errors == possible[0] ? "0" : "1"))
        #expect(try sandbox.count("User", where: "id == 6") == "1")
    }
}
