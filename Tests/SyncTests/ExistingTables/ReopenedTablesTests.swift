import Foundation
import GRDB
import Sync
import Testing

@Suite("Existing tables that are opened again")
struct ReopenedTablesTests {
    @Test("Existing tables are never migrated, however the database is opened")
    func tablesAreNeverMigrated() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pool = try DatabasePool(path: folder.database.path)
        try AppTables.migrator.migrate(pool)
        let schema = try pool.appSchema()
        let first = try DataStack(model: AppTables.model(), existingTablesIn: pool)
        try await Sync.changes(AppTables.day1, inEntity: "Post", stack: first)
        let all = try await first.contents()

        // A model that needs more of the tables, and one that needs less.
        let more = try SyncModel(
            schemaData: Data(
                AppTables.schema.replacing(#""label": "string""#, with: #""label": "string", "x": "date""#).utf8))
        let less = try SyncModel(
            schemaData: Data(AppTables.schema.replacing(#", "label": "string""#, with: "").utf8))
        let ways: [() throws -> DataStack] = [
            { try DataStack(model: more, existingTablesIn: pool) }, { try DataStack(model: more, in: pool) },
            { try DataStack(model: more, at: folder.database) },
            { try DataStack(model: more, at: folder.database, migration: .allowingDataLoss) },
        ]
        for open in ways {
            let error = #expect(throws: SyncError.self) { _ = try open() }
            #expect(error?.code == .incompatibleTables)
            #expect(error?.problems.map(\.path) == ["tables.tags.x"])
            #expect(error?.problems.map(\.fixSQL) == [#"ALTER TABLE "tags" ADD COLUMN "x" TEXT;"#])
        }
        #expect(throws: SyncError.self) { try DataStack.migration(to: more, at: folder.database) }
        #expect(try await first.contents() == all)

        #expect(try DataStack.migration(to: less, at: folder.database).dataLosses.isEmpty)
        let stacks = try [
            DataStack(at: folder.database), DataStack(model: less, in: pool),
            DataStack(model: AppTables.model(), at: folder.database),
        ]
        for stack in stacks {
            #expect(try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack).isEmpty)
        }
        let reading = try DataStack(reading: folder.database)
        #expect(try await reading.fetch("Post", where: .where("author.fullName = 'Ada'")).map(\.key) == [.integer(1)])
        #expect(try pool.appSchema() == schema)
    }

    @Test("A stack does not adopt tables that a stack created, nor take existing tables for its own")
    func tablesOfAStackAreNotAdopted() throws {
        let queue = try DatabaseQueue()
        _ = try DataStack(model: AppTables.model(), in: queue)
        let error = #expect(throws: SyncError.self) { try DataStack(model: AppTables.model(), existingTablesIn: queue) }
        #expect(error?.code == .modelMismatch)
        let app = try AppTables.database()
        let collision = #expect(throws: SyncError.self) { try DataStack(model: AppTables.model(), in: app) }
        #expect(collision?.code == .nameCollision)
    }

    @Test("The app may change existing tables as long as they fit the model")
    func appMayChangeTables() async throws {
        let queue = try AppTables.database()
        let stack = try DataStack(model: AppTables.model(), existingTablesIn: queue)
        try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack)
        try await queue.write { db in try db.execute(sql: "ALTER TABLE tags ADD COLUMN shade TEXT") }
        #expect(try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack).isEmpty)
        try await queue.write { db in try db.execute(sql: "ALTER TABLE tags RENAME COLUMN label TO caption") }
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(AppTables.day2, inEntity: "Post", stack: stack)
        }
        #expect(error?.code == .incompatibleTables)
        #expect(error?.problems.map(\.path) == ["tables.tags.label"])
    }

    @Test("A migrator that adopts existing tables does not erase the database")
    func erasingMigratorKeepsTables() async throws {
        let queue = try DatabaseQueue()
        var migrator = AppTables.migrator
        migrator.eraseDatabaseOnSchemaChange = true
        let model = try AppTables.model()
        migrator.registerMigration("sync") { db in try DataStack.prepareExistingTables(of: model, in: db) }
        for _ in 1...2 {
            try migrator.migrate(queue)
            let stack = try DataStack(model: model, existingTablesIn: queue)
            try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack)
            try await queue.write { db in try db.execute(sql: "UPDATE tags SET color = 'red' WHERE code = 'a'") }
        }
        #expect(
            try await Sync.changes(AppTables.day1, inEntity: "Post", stack: DataStack(model: model, in: queue)).isEmpty)
        try migrator.migrate(queue)
        #expect(try queue.lines("SELECT color FROM tags WHERE code = 'a'") == ["red"])
    }

    @Test("Opening a database with unsuitable tables leaves nothing in it")
    func unsuitableTablesLeaveNothing() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE tags (code TEXT PRIMARY KEY)") }
        let before = try queue.lines("SELECT * FROM sqlite_schema")
        #expect(throws: SyncError.self) { try DataStack(model: AppTables.model(), existingTablesIn: queue) }
        #expect(try queue.lines("SELECT * FROM sqlite_schema") == before)
    }
}
