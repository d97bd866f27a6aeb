import Foundation
import GRDB
import Sync
import Testing

/// A database that two processes have open: an app with a stack in it, and `syncdb` as its extension. See
/// `Docs/AdoptingInAnApp.md`.
@Suite("Two processes on one file")
struct SharedFileTests {
    private let sandbox: Sandbox
    private let pool: DatabasePool
    private let stack: DataStack

    init() throws {
        sandbox = try Sandbox.withUsers()
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        pool = try DatabasePool(
            path: sandbox.folder.appendingPathComponent("app.sqlite").path, configuration: configuration)
        try pool.write { db in try db.execute(sql: "CREATE TABLE bookmark (id INTEGER PRIMARY KEY)") }
        stack = try DataStack(model: SyncModel(contentsOf: URL(fileURLWithPath: Sandbox.model)), in: pool)
    }

    private let day1 = Data("[{\"id\":1},{\"id\":2}]".utf8)

    @Test("A process sees what another one wrote, and its next sync compares with that")
    func writesAreSeen() async throws {
        let before = try await dataVersion()
        let run = try sandbox.importUsers(Sandbox.day2)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try await stack.count("User", where: "id == 9") == 1)
        #expect(try await dataVersion() != before)
        let day2 = try Data(contentsOf: URL(fileURLWithPath: Sandbox.day2))
        #expect(try await Sync.changes(day2, inEntity: "User", stack: stack).isEmpty)

        try await Sync.delete(id: 9, inEntity: "User", stack: stack)
        #expect(try sandbox.count("User", where: "id == 9") == "0")
    }

    /// Returns a number that changes with every commit of another connection, so that an app notices other processes.
    private func dataVersion() async throws -> Int? {
        try await pool.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") }
    }

    @Test("A process reads while another one writes, and waits with its own write")
    func writersWait() async throws {
        let (source, importer) = (Process(), Process())
        source.executableURL = URL(fileURLWithPath: "/bin/sh")
        source.arguments = ["-c", #"printf '['; exec yes '{"id":1,"first_name":"half"},'"#]
        let list = Pipe()
        source.standardOutput = list
        importer.executableURL = try Program.syncdb()
        importer.arguments = ["import", "-", "--entity", "User", "-d", "app.sqlite", "--whole-up-to", "1K"]
        importer.currentDirectoryURL = sandbox.folder
        importer.standardInput = list
        importer.standardError = FileHandle.nullDevice
        importer.standardOutput = FileHandle.nullDevice
        try source.run()
        defer { source.terminate() }
        try importer.run()
        defer { importer.terminate() }
        while importer.isRunning, try !isLocked() { try await Task.sleep(for: .milliseconds(2)) }
        #expect(importer.isRunning)
        // It keeps its lock, and takes no processor time until the test continues.
        kill(importer.processIdentifier, SIGSTOP)

        #expect(try await stack.count("User", where: "firstName == 'half'") == 0)
        #expect(try await stack.count("User") == 8)
        let (stack, json) = (stack, Data(#"[{"id":1,"first_name":"whole"}]"#.utf8))
        async let result = Sync.changes(json, inEntity: "User", stack: stack, operations: .update)
        kill(importer.processIdentifier, SIGKILL)
        importer.waitUntilExit()
        #expect(try await result["User"].updated.map(\.key) == [.integer(1)])
        #expect(try await stack.damage() == [])
    }

    /// Whether another connection is writing.
    private func isLocked() throws -> Bool {
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        let probe = try DatabaseQueue(
            path: sandbox.folder.appendingPathComponent("app.sqlite").path, configuration: configuration)
        defer { try? probe.close() }
        do {
            try probe.inDatabase { db in try db.inTransaction(.immediate) { .rollback } }
            return false
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return true
        }
    }

    @Test("A process notices that another one migrated the store, and continues with the new model")
    func otherModelIsNoticed() async throws {
        let text = try String(contentsOf: URL(fileURLWithPath: Sandbox.model), encoding: .utf8)
        let age = "\"age\": \"integer\""
        let model = try sandbox.file(
            "next.json", text.replacingOccurrences(of: age, with: age + ", \"nickname\": \"string\""))
        let run = try sandbox.syncdb("schema", "migrate", "--model", model, "-d", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(day1, inEntity: "User", stack: stack)
        }
        #expect(error?.code == .modelMismatch)
        let next = try DataStack(
            model: SyncModel(contentsOf: sandbox.folder.appendingPathComponent("next.json")), in: pool)
        #expect(try await next.count("User", where: "nickname == nil") == 8)
        #expect(try await pool.read { db in try db.tableExists("bookmark") })
    }
}
