import Foundation
import Testing

/// A folder for one test, with the paths of the sample in `Fixtures`. It is removed with this object.
final class Sandbox {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("syncdb-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Returns a folder with the first day of the sample in `app.sqlite`, as `importUsers(Sandbox.day1)` leaves it.
    static func withUsers() throws -> Sandbox {
        let sandbox = try Sandbox()
        try users.get().write(to: sandbox.folder.appendingPathComponent("app.sqlite"))
        return sandbox
    }

    /// The database after that import, created once for all tests.
    private static let users = Result {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers(day1)
        try #require(run.status == 0, "\(run.errors)")
        let files = try sandbox.databaseBytes()
        try #require(files.count == 1)
        return try #require(files["app.sqlite"])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures")
    static let model = fixtures.appendingPathComponent("Models/company.json").path
    static let day1 = fixtures.appendingPathComponent("Payloads/day1.json").path
    static let day2 = fixtures.appendingPathComponent("Payloads/day2.json").path

    /// Runs `syncdb` in the folder.
    func syncdb(_ arguments: String..., input: String = "") throws -> Program.Run {
        try run(arguments, input: input)
    }

    /// Runs `syncdb` in the folder, which lasts as long as the call, also without another reference to the sandbox.
    func run(_ arguments: [String], input: String = "") throws -> Program.Run {
        try withExtendedLifetime(self) { try Program.run(arguments, in: folder, input: input) }
    }

    /// Runs a shell line in the folder. `$SYNCDB` is the program.
    func shell(_ command: String, shell: String = "/bin/bash") throws -> Program.Run {
        let program = try Program.syncdb().path
        return try withExtendedLifetime(self) {
            try Program.run(
                ["-c", command], executable: URL(fileURLWithPath: shell), in: folder, environment: ["SYNCDB": program])
        }
    }

    /// Imports users from a file into `app.sqlite`.
    @discardableResult
    func importUsers(_ file: String, _ more: String..., input: String = "") throws -> Program.Run {
        try run(
            ["import", file, "--entity", "User", "--model", Self.model, "--database", "app.sqlite"] + more,
            input: input)
    }

    /// Writes a file and returns its name.
    func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        return name
    }

    /// All files of the folder, with hidden ones.
    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// Returns the tables and rows of the database as SQL.
    func databaseDump() throws -> String { try query(".dump") }

    /// Returns the output of the `sqlite3` shell for a statement or for a command of the shell.
    func query(_ statement: String, in database: String = "app.sqlite") throws -> String {
        let run = try Program.run(
            ["sqlite3", database, statement], executable: URL(fileURLWithPath: "/usr/bin/env"), in: folder)
        try #require(run.status == 0, "\(run.errors)")
        return run.output
    }

    /// Returns the bytes of each file of the database.
    func databaseBytes() throws -> [String: Data] {
        try files.filter { $0.hasPrefix("app.sqlite") }.reduce(into: [:]) { bytes, name in
            bytes[name] = try Data(contentsOf: folder.appendingPathComponent(name))
        }
    }

    func count(_ entity: String, where predicate: String? = nil) throws -> String {
        let condition = predicate.map { ["--where", $0] } ?? []
        let run = try self.run(["count", entity, "--database", "app.sqlite"] + condition)
        try #require(run.status == 0, "\(run.errors)")
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
