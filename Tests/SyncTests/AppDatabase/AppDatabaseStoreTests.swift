import Foundation
import GRDB
import Sync
import Testing

@Suite("Stores in an app database")
struct AppDatabaseStoreTests {
    private let bookmark = AppDatabase.Bookmark(id: 1, title: "kept")

    private func sync(_ days: String..., into stack: DataStack) async throws {
        for day in days { try await Sync.changes(Fixtures.payload(day), inEntity: "User", stack: stack) }
    }

    // MARK: Any writer

    @Test("A store in an app database has the rows of a store in its own file, in a queue and in a pool")
    func appDatabaseHasSameRows() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let model = try Fixtures.model("company")
        let own = try DataStack.inMemory(model)
        try await sync("day1", "day2", into: own)
        let wanted = try await own.contents().tables

        var configuration = Configuration()
        configuration.busyMode = .callback { _ in false }
        configuration.maximumReaderCount = 1
        configuration.publicStatementArguments = true
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA recursive_triggers = ON") }
        let writers: [any DatabaseWriter] = [
            try DatabaseQueue(configuration: configuration),
            try DatabaseQueue(path: folder.url.appendingPathComponent("queue.sqlite").path),
            try DatabasePool(path: folder.database.path, configuration: configuration),
        ]
        for writer in writers {
            try AppDatabase.fill(writer)
            let stack = try DataStack(model: model, in: writer)
            try await sync("day1", "day2", into: stack)
            let found = try await stack.contents().tables
            for (table, rows) in wanted { #expect(found[table] == rows, "\(table)") }
            #expect(found["bookmark"]?.count == 1)
            #expect(try await writer.read { db in try AppDatabase.Bookmark.fetchAll(db) } == [bookmark])
            #expect(try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: stack).isEmpty)
        }
    }

    @Test("A connection that knows the database without the store finds the tables of another connection")
    func storeOfOtherConnection() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let model = try Fixtures.model("company")
        let pools = try [0, 1].map { _ in try DatabasePool(path: folder.database.path) }
        // GRDB keeps what it knows of the schema of this connection.
        #expect(try await pools[0].write { db in try !db.tableExists("sync_model") })
        let stacks = try pools.reversed().map { try DataStack(model: model, in: $0) }
        try await sync("day1", into: stacks[0])
        #expect(try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stacks[1]).isEmpty)
    }

    @Test("A store in an app database is found by the next stack, and an app may open the file of a stack")
    func storeIsFoundAgain() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let pool = try DatabasePool(path: folder.database.path)
        try AppDatabase.fill(pool)
        let schema = try AppDatabase.schema(pool)
        let guest = try DataStack(model: Fixtures.model("company"), in: pool)
        #expect(try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: guest).isEmpty)
        #expect(try AppDatabase.schema(pool) == schema)
        let again = try DataStack(model: Fixtures.model("company"), in: pool)
        try await sync("day2", into: again)
        try pool.close()
        let file = try DataStack(at: folder.database)
        #expect(try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: file).isEmpty)
        #expect(try await file.read { db in try AppDatabase.Bookmark.fetchCount(db) } == 1)
    }

    @Test("A closed stack leaves the app database open")
    func databaseStaysOpen() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pool = try DatabasePool(path: folder.database.path)
        do {
            let stack = try DataStack(model: Fixtures.model("company"), in: pool)
            try await sync("day1", into: stack)
            try stack.close()
            let result = try await pool.write { db throws in
                try Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack, operations: .insert, in: db)
            }
            #expect(result.isEmpty)
        }
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM User") } ?? 0 > 0)
    }

    @Test("A sync keeps the page cache and the busy handler of the app's connection")
    func connectionSettingsAreKept() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let waits = WaitCounter()
        var configuration = Configuration()
        configuration.busyMode = .callback { _ in waits.count() < 3 }
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA cache_size = 100") }
        let queue = try DatabaseQueue(path: folder.database.path, configuration: configuration)
        let stack = try DataStack(model: Fixtures.model("company"), in: queue)
        let records = (1...60_000).map { "{\"id\":\($0),\"notes\":[{\"id\":\($0)}]}" }.joined(separator: ",")
        try await Sync.changes(Data("[\(records)]".utf8), inEntity: "User", stack: stack)
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "PRAGMA cache_size") } == 100)

        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.database.path, configuration: unsafe)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        for call in 1...2 {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.plan(Fixtures.payload("day1"), inEntity: "User", stack: stack)
            }
            #expect(error?.code == .databaseBusy)
            #expect(waits.value >= 3, "call \(call)")
            waits.reset()
        }
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        #expect(try await Sync.plan(Data("[]".utf8), inEntity: "Company", stack: stack).isEmpty)
    }

    @Test("A store in an app database is in the main database, not in an attached one")
    func mainDatabaseIsUsed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "ATTACH DATABASE ? AS old", arguments: [folder.database.path])
        }
        let queue = try DatabaseQueue(configuration: configuration)
        let stack = try DataStack(model: Fixtures.model("company"), in: queue)
        #expect(try await stack.count("User") == 0)
        try await Sync.changes([["id": 70]] as JSONValue, inEntity: "User", stack: stack)
        #expect(try await queue.read { db in try Int.fetchAll(db, sql: "SELECT id FROM main.User") } == [70])
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM old.User") } == 8)
    }

    // MARK: Names

    @Test(
        "Opening an app database with taken names is an error that lists them, and creates nothing",
        arguments: [
            ("CREATE TABLE user (x)", "user", "is a table of the database and a table of the model"),
            ("CREATE VIEW Note AS SELECT 1 AS x", "Note", "is a view of the database and a table of the model"),
            (
                "CREATE TABLE a (x); CREATE INDEX company ON a (x)", "company",
                "is an index of the database and a table of the model"
            ),
            ("CREATE TEMP TABLE Tag (x)", "Tag", "is a table of the database and a table of the model"),
            ("CREATE TABLE sync_pending (x)", "sync_pending", "is a table of the database and a table of the model"),
        ])
    func takenNamesAreErrors(sql: String, name: String, message: String) async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: sql) }
        let schema = try AppDatabase.schema(queue)
        let error = #expect(throws: SyncError.self) { try DataStack(model: Fixtures.model("company"), in: queue) }
        #expect(error?.code == .nameCollision)
        #expect(error?.problems == [.init(.incompatibleTable, path: name, message: message)])
        #expect(try AppDatabase.schema(queue) == schema)
    }

    @Test("A migration that needs a name taken by the app is an error and changes nothing")
    func laterTakenNameIsError() async throws {
        let queue = try DatabaseQueue()
        let small = try SyncModel(entities: [
            SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        let large = try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
            SyncModel.Entity("Bookmark", attributes: [SyncModel.Attribute("id", .integer)]),
        ])
        let stack = try DataStack(model: small, in: queue)
        try await Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack)
        try AppDatabase.fill(queue)
        let schema = try AppDatabase.schema(queue)
        let error = #expect(throws: SyncError.self) { try DataStack(model: large, in: queue) }
        #expect(error?.problems.map(\.path) == ["bookmark"])
        #expect(try AppDatabase.schema(queue) == schema)
        #expect(try await stack.count("User") == 1)
        #expect(try await queue.read { db in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") } == true)
    }

    // MARK: Settings

    @Test("An unsuitable connection is an error that names the setting")
    func unsuitableConnectionIsError() async throws {
        var withoutKeys = Configuration()
        withoutKeys.foreignKeysEnabled = false
        let queue = try DatabaseQueue(configuration: withoutKeys)
        let error = #expect(throws: SyncError.self) { try DataStack(model: Fixtures.model("company"), in: queue) }
        #expect(error?.code == .incompatibleConnection)
        #expect(error?.message.contains("configuration.foreignKeysEnabled = true") == true)
        #expect(try AppDatabase.schema(queue) == [])

        var utf16 = Configuration()
        utf16.prepareDatabase { db in try db.execute(sql: "PRAGMA encoding = \"UTF-16le\"") }
        let wide = try DatabaseQueue(configuration: utf16)
        let encoding = #expect(throws: SyncError.self) { try DataStack(model: Fixtures.model("company"), in: wide) }
        #expect(encoding?.code == .incompatibleConnection)
        #expect(encoding?.message.contains("UTF-16le") == true)
    }

    @Test("A sync fails if foreign keys were switched off after the store was opened")
    func foreignKeysSwitchedOff() async throws {
        let queue = try DatabaseQueue()
        let stack = try DataStack(model: Fixtures.model("company"), in: queue)
        try await queue.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA foreign_keys = OFF") }
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        }
        #expect(error?.code == .incompatibleConnection)
        #expect(try await stack.count("User") == 0)
    }

    @Test("A read-only app database can be read, and is neither written nor migrated")
    func readOnlyDatabase() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let users = try await DataStack(at: folder.database).count("User")
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: folder.database.path, configuration: configuration)
        let stack = try DataStack(model: Fixtures.model("company"), in: queue)
        #expect(try await stack.count("User") == users)
        let write = await #expect(throws: SyncError.self) {
            try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        }
        #expect(write?.code == .databaseReadOnly)
        let other = try SyncModel(entities: [
            SyncModel.Entity("Other", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        let error = #expect(throws: SyncError.self) {
            try DataStack(model: other, in: queue, migration: .allowingDataLoss)
        }
        #expect(error?.code == .databaseReadOnly)
    }

    @Test("Conditions work on every connection of a pool, also beside a running statement")
    func conditionsWorkOnEveryConnection() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pool = try DatabasePool(path: folder.database.path)
        let stack = try DataStack(model: Fixtures.model("company"), in: pool)
        try await sync("day1", into: stack)
        let condition: RowPredicate = "lastName CONTAINS[c] 'AMI' AND firstName LIKE '*'"
        let wanted = try await stack.count("User", where: condition)
        #expect(wanted > 0)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await pool.read { db throws in
                        // The statement is prepared before the functions are added.
                        let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM User")
                        _ = try cursor.next()
                        let count = try stack.count("User", where: condition, in: db)
                        _ = try cursor.next()
                        return try count + stack.fetch("User", where: condition, in: db).count
                    }
                }
            }
            for try await count in group { #expect(count == 2 * wanted) }
        }
    }
}

/// Counts the calls of a busy handler.
private final class WaitCounter: @unchecked Sendable {
    private let lock = NSLock()
    private var waits = 0

    var value: Int { lock.withLock { waits } }

    func count() -> Int {
        lock.withLock {
            waits += 1
            return waits
        }
    }

    func reset() { lock.withLock { waits = 0 } }
}
