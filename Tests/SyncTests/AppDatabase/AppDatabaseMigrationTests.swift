import Foundation
import GRDB
import Sync
import Testing

/// Migrations by the app's `DatabaseMigrator` and by the store.
@Suite("Migrations of an app database")
struct AppDatabaseMigrationTests {
    private let first: SyncModel
    private let second: SyncModel

    init() throws {
        first = try SyncModel(entities: [
            SyncModel.Entity(
                "Person", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)])
        ])
        second = try SyncModel(entities: [
            SyncModel.Entity(
                "Person",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("fullName", .string, renamedFrom: "name"),
                    SyncModel.Attribute("age", .integer),
                ])
        ])
    }

    /// The migrator of the app's next version. Bookmarks reference people, and a trigger records deleted people.
    private var laterMigrator: DatabaseMigrator {
        var migrator = AppDatabase.migrator
        migrator.registerMigration("owners") { db in
            try db.alter(table: "bookmark") { table in
                table.add(column: "person", .integer).references("Person", onDelete: .setNull)
            }
            try db.create(table: "gone") { table in table.column("name", .text) }
            try db.execute(
                sql: "CREATE TRIGGER farewell AFTER DELETE ON Person BEGIN INSERT INTO gone VALUES (OLD.id); END")
        }
        return migrator
    }

    private func check(_ queue: DatabaseQueue, _ stack: DataStack) async throws {
        try await queue.write { db in try db.execute(sql: "UPDATE bookmark SET person = 2") }
        try await Sync.changes(
            [["id": 1, "full_name": "Ann", "age": 5]] as JSONValue, inEntity: "Person", stack: stack)
        try await queue.read { db throws in
            #expect(try String.fetchAll(db, sql: "SELECT name FROM gone") == ["2"])
            #expect(try Row.fetchAll(db, sql: "SELECT person FROM bookmark").map { $0[0] as Int64? } == [nil])
            #expect(try String.fetchAll(db, sql: "SELECT fullName FROM Person") == ["Ann"])
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
            #expect(try laterMigrator.hasCompletedMigrations(db))
        }
    }

    private let people: JSONValue = [["id": 1, "name": "Ann"], ["id": 2, "name": "Bob"]]

    @Test("An app may migrate before the store")
    func appMigratesFirst() async throws {
        let queue = try DatabaseQueue()
        try AppDatabase.fill(queue)
        try await Sync.changes(people, inEntity: "Person", stack: DataStack(model: first, in: queue))
        try laterMigrator.migrate(queue)
        try await check(queue, DataStack(model: second, in: queue))
    }

    @Test("A store may migrate before the app while a stack is open, which then fails with modelMismatch")
    func storeMigratesFirst() async throws {
        let queue = try DatabaseQueue()
        let old = try DataStack(model: first, in: queue)
        try await Sync.changes(people, inEntity: "Person", stack: old)
        try AppDatabase.fill(queue)
        #expect(try await Sync.changes(people, inEntity: "Person", stack: old).isEmpty)
        let stack = try DataStack(model: second, in: queue)
        try laterMigrator.migrate(queue)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(people, inEntity: "Person", stack: old)
        }
        #expect(error?.code == .modelMismatch)
        try await check(queue, stack)
    }

    @Test("A migration of the store keeps the app's references to its tables")
    func referencesOfTheAppAreKept() async throws {
        let queue = try DatabaseQueue()
        try AppDatabase.fill(queue)
        let stack = try DataStack(model: first, in: queue)
        try await Sync.changes(people, inEntity: "Person", stack: stack)
        try laterMigrator.migrate(queue)
        try await queue.write { db in try db.execute(sql: "UPDATE bookmark SET person = 1") }
        let migrated = try DataStack(model: second, in: queue)
        #expect(try await migrated.count("Person", where: "fullName == 'Ann'") == 1)
        try await queue.read { db throws in
            #expect(try Int64.fetchAll(db, sql: "SELECT person FROM bookmark") == [1])
            #expect(try db.foreignKeys(on: "bookmark").map(\.destinationTable) == ["Person"])
        }
        try await check(queue, migrated)
    }

    @Test("A migration that would lose rows is an error, and the app's tables stay")
    func lossIsAnError() async throws {
        let queue = try DatabaseQueue()
        try AppDatabase.fill(queue)
        try await Sync.changes(people, inEntity: "Person", stack: DataStack(model: first, in: queue))
        let schema = try AppDatabase.schema(queue)
        let other = try SyncModel(entities: [
            SyncModel.Entity("Other", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        let error = #expect(throws: SyncError.self) { try DataStack(model: other, in: queue) }
        #expect(error?.code == .modelMismatch)
        #expect(try AppDatabase.schema(queue) == schema)
        _ = try DataStack(model: other, in: queue, migration: .allowingDataLoss)
        #expect(try await queue.read { db in try AppDatabase.Bookmark.fetchCount(db) } == 1)
    }

    @Test("A migrator that erases the database on schema changes keeps it if it creates the store's tables")
    func erasingMigratorKeepsDatabase() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for launch in 1...2 {
            let queue = try DatabaseQueue(path: folder.database.path)
            var migrator = AppDatabase.migrator
            migrator.eraseDatabaseOnSchemaChange = true
            migrator.registerMigration("sync") { [first] db in try DataStack.createTables(of: first, in: db) }
            try migrator.migrate(queue)
            let stack = try DataStack(model: first, in: queue)
            #expect(try await stack.count("Person") == (launch == 1 ? 0 : 2))
            try await Sync.changes(people, inEntity: "Person", stack: stack)
            try queue.close()
        }
    }

    @Test("A migration of the store ignores foreign key violations in the app's tables")
    func violationsOfTheAppAreIgnored() async throws {
        let queue = try DatabaseQueue()
        try AppDatabase.fill(queue)
        try await queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    CREATE TABLE child (parent REFERENCES bookmark(id));
                    INSERT INTO child VALUES (77);
                    PRAGMA foreign_keys = ON
                    """)
        }
        try await Sync.changes(people, inEntity: "Person", stack: DataStack(model: first, in: queue))
        let stack = try DataStack(model: second, in: queue)
        #expect(try await stack.count("Person") == 2)
    }

    @Test("A migration of the app can sync if foreign keys are on, and fails with advice if they are off")
    func syncInsideAMigration() async throws {
        let queue = try DatabaseQueue()
        let stack = try DataStack(model: first, in: queue)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("people", foreignKeyChecks: .immediate) { [people] db in
            try Sync.changes(people, inEntity: "Person", stack: stack, in: db)
        }
        try migrator.migrate(queue)
        #expect(try await stack.count("Person") == 2)
        migrator.registerMigration("more people") { db in
            try Sync.changes([["id": 3]] as JSONValue, inEntity: "Person", stack: stack, in: db)
        }
        let error = #expect(throws: SyncError.self) { try migrator.migrate(queue) }
        #expect(error?.message.contains("foreignKeyChecks: .immediate") == true)
        #expect(try await stack.count("Person") == 2)
    }
}
