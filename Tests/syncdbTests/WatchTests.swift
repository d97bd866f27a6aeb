import Foundation
import Testing

@Suite("watch", .timeLimit(.minutes(60)))
struct WatchTests {
    /// Starts `syncdb watch`, runs `body` once it watches, and waits for its end.
    private func watch(
        _ sandbox: Sandbox, _ arguments: String..., body: () throws -> Void
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = try Program.syncdb()
        process.arguments = ["watch"] + arguments + ["-d", "app.sqlite", "--once", "--interval", "5ms"]
        process.currentDirectoryURL = sandbox.folder
        let files = try ["output", "errors"].map { name in
            let url = sandbox.folder.appendingPathComponent(name)
            try Data().write(to: url)
            return url
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        defer { process.terminate() }
        while process.isRunning, try !String(contentsOf: files[1], encoding: .utf8).contains("watching") {
            try await Task.sleep(for: .milliseconds(5))
        }
        try body()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOf: files[0], encoding: .utf8))
    }

    @Test("watch prints the commits of other processes, with to-one links, and nothing for unchanged rows")
    func commitsArePrinted() async throws {
        let sandbox = try Sandbox.withUsers()
        let seen = try await watch(sandbox, "User") {
            try sandbox.importUsers(Sandbox.day1)
            try sandbox.importUsers(Sandbox.day2)
        }
        #expect(seen.status == 0)
        let lines = seen.output.split(separator: "\n").map { String($0.prefix(8)) }
        #expect(lines.sorted() == ["+ User 9", "- User 6", "~ User 1", "~ User 3", "~ User 8"], "\(seen.output)")
        #expect(seen.output.contains("company: 2 → nil"), "\(seen.output)")
    }

    @Test("watch with a condition prints changes of matching rows only")
    func conditionSelectsRows() async throws {
        let sandbox = try Sandbox.withUsers()
        let seen = try await watch(sandbox, "User", "--where", "id < 3", "--json") {
            _ = try sandbox.query("DELETE FROM User WHERE id = 7; UPDATE User SET firstName = 'Augusta' WHERE id = 1")
        }
        #expect(
            seen.output
                == #"{"User":{"deleted":[],"deletedCount":0,"deletedRows":[],"inserted":[],"insertedCount":0,"insertedRows":[],"#
                + #""unchangedCount":0,"updated":[{"changed":["firstName"],"key":1,"values":{"firstName":{"new":"Augusta","old":"Ada"}}}],"#
                + #""updatedCount":1}}"# + "\n")
    }

    @Test("An unknown entity, a missing database and an invalid interval are errors of watch")
    func unusableArgumentsAreErrors() throws {
        let sandbox = try Sandbox.withUsers()
        #expect(try sandbox.syncdb("watch", "Usr", "-d", "app.sqlite").errors.contains("'User'"))
        #expect(try sandbox.syncdb("watch", "User", "-d", "none.sqlite").status == 1)
        #expect(try sandbox.files == ["app.sqlite"])
        #expect(try sandbox.syncdb("watch", "User", "-d", "app.sqlite", "--interval", "0").status == 2)
    }
}
