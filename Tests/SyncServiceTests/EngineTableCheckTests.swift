import Foundation
import GRDB
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// A file whose engine tables hold values that their columns cannot have: each call throws an error or works.
@Suite("Damaged engine tables")
struct EngineTableCheckTests {
    /// A text that is part of a row, so no error may contain it.
    private static let content = "content of a row"

    @Test("A value of the wrong type is an error that names its table, row and column")
    func located() async throws {
        let store = try await DamagedStore(content: Self.content)
        defer { store.remove() }
        let error = try await #require(store.errors("UPDATE sync_conflict SET at = 'x'").first)
        #expect(error.code == .databaseError)
        #expect(
            error.message
                == "the engine's tables are damaged: sync_conflict, row id 1: 'at' is not of the type INTEGER")
    }

    @Test("Text that is not JSON is an error that names its table, row and column")
    func json() async throws {
        let store = try await DamagedStore(content: Self.content)
        defer { store.remove() }
        let error = try await #require(
            store.errors("INSERT INTO sync_tombstone (e, id, source) VALUES (2, '{', 'missing')").first)
        #expect(error.message == "the engine's tables are damaged: sync_tombstone, row e 2, id '{': 'id' is not JSON")
    }

    @Test("Numbers at the limits of their range do not overflow")
    func ranges() async throws {
        let store = try await DamagedStore(content: Self.content)
        defer { store.remove() }
        #expect(try await store.errors("UPDATE sync_engine SET clock = 9223372036854775807").isEmpty)
        #expect(try await store.errors("UPDATE sync_lease SET token = 9223372036854775807").isEmpty)
    }

    @Test("A damaged value in any column neither crashes the process nor shows row contents in an error")
    func everyColumn() async throws {
        let store = try await DamagedStore(content: Self.content)
        defer { store.remove() }
        let values = ["NULL", "'x'", "x'ff'", "9223372036854775807", "-9223372036854775808", "1.5", "''", "'[{'"]
        let cases = try store.columns().flatMap { column in
            values.map { "UPDATE OR REPLACE \(column.table) SET \"\(column.name)\" = \($0)" }
        }
        var damaged = 0
        let chosen = stride(from: 0, to: cases.count, by: LongTests.count(61, many: 5)).map { cases[$0] }
        for sql in chosen {
            // SQLite itself rejects text or NULL as a rowid.
            guard let errors = try? await store.errors(sql) else { continue }
            damaged += 1
            for error in errors {
                #expect(!"\(error) \(error.underlying ?? "")".contains(Self.content), "\(sql)")
            }
        }
        #expect(damaged > chosen.count / 2)
    }
}

/// A store with an engine whose tables accept any value in each column.
private struct DamagedStore {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("damage-\(UUID().uuidString)")
    private var whole: URL { folder.appendingPathComponent("whole.sqlite") }
    private let service = InMemoryService()
    private let model: SyncModel

    init(content: String) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        model = try SyncModel(schemaData: Data(Device.schema.utf8))
        let stack = try DataStack(model: model, at: whole)
        let device = try Device(stack, service, entities: Self.entities, Device.impatient)
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": .string(content)]) }
        try await device.engine.sync()
        // An open conflict, an edit, a new row and a deletion.
        try await device.write("UPDATE Task SET title = '\(content) here' WHERE remoteID = 1")
        await service.set("Task", 1, ["title": .string("\(content) there")])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET points = 1 WHERE remoteID < 3")
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (-5, '\(content)')")
        try await device.write("DELETE FROM Task WHERE remoteID = 3")
        try stack.close()
        try relax()
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    private static let entities = ["Project", "Task", "Tag"].map { SyncedEntity($0, conflictPolicy: .manual) }

    /// Valid values of the columns that have only some values.
    private static let states = [
        "kind": "'update'", "state": "'ready'", "cause": "'edit'", "origin": "'pulled'", "trust": "'current'",
        "source": "'missing'", "winner": "'local'", "reason": "NULL",
    ]

    /// Removes types and constraints from the columns, and inserts a row into each empty table.
    private func relax() throws {
        let queue = try DatabaseQueue(path: whole.path)
        try queue.write { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            var change = "sql"
            for (old, new) in [(") STRICT, WITHOUT", ") WITHOUT"), (") STRICT", ")"), (" NOT NULL", "")] {
                change = "replace(\(change), '\(old)', '\(new)')"
            }
            try db.execute(
                sql: "UPDATE sqlite_schema SET sql = \(change) WHERE type = 'table' AND name GLOB 'sync_*'")
        }
        try queue.close()
        try edit(whole) { db in
            for (table, columns) in try Self.tables(in: db)
            where try Int.fetchOne(
                db, sql: "SELECT count(*) FROM \(table)") == 0
            {
                let values = columns.map { Self.states[$0.name] ?? ($0.type == "TEXT" ? "'1'" : "1") }
                    .joined(separator: ", ")
                try db.execute(sql: "INSERT INTO \(table) VALUES (\(values))")
            }
        }
    }

    private func edit<T>(_ file: URL, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA ignore_check_constraints = ON") }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.write(body)
    }

    /// Returns the tables of the engine. A row in `sync_capture_off` would disable change capture.
    private static func tables(in db: Database) throws -> [(name: String, columns: [ColumnInfo])] {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'sync_*' ORDER BY name")
        let others = ["sync_model", "sync_capture_off"]
        return try names.filter { !others.contains($0) }.map { ($0, try db.columns(in: $0)) }
    }

    func columns() throws -> [(table: String, name: String)] {
        try edit(whole) { db in
            try Self.tables(in: db).flatMap { table in table.columns.map { (table.name, $0.name) } }
        }
    }

    /// Runs a statement on a copy of the file, then each call of an engine.
    ///
    /// - Returns: The errors of the calls, all of which must be ``SyncError``s.
    func errors(_ sql: String) async throws -> [SyncError] {
        let copy = folder.appendingPathComponent("\(UUID().uuidString).sqlite")
        try FileManager.default.copyItem(at: whole, to: copy)
        try edit(copy) { db in try db.execute(sql: sql) }
        var errors: [SyncError] = []
        func collect(_ body: () async throws -> Void) async {
            do {
                try await body()
            } catch let error as SyncError {
                errors.append(error)
            } catch {
                Issue.record("\(sql): \(type(of: error))")
            }
        }
        await collect {
            let stack = try DataStack(model: model, at: copy)
            let engine = try SyncEngine(
                stack: stack, service: service, entities: Self.entities, configuration: Device.impatient)
            await collect { _ = try await engine.status() }
            await collect { _ = try await engine.conflicts() }
            await collect { _ = try await engine.blockedChanges() }
            await collect { _ = try await engine.pendingFiles() }
            await collect { try await engine.resolve("Task", key: 1, keeping: .local) }
            await collect { _ = try await engine.sync() }
            await collect { try await engine.reset(.cursors) }
            await collect { _ = try await engine.sync() }
            await collect { _ = try await stack.pendingReferences() }
            await collect { try await stack.removeSyncState(deletingRows: false) }
            try stack.close()
        }
        return errors
    }
}
