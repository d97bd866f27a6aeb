import Foundation
import GRDB
import Sync
import Testing

@Suite("Syncs in the caller's transaction")
struct TransactionSyncTests {
    private struct Undone: Error {}

    private let cursor = AppDatabase.Cursor(name: "users", etag: "\"7\"")

    private func app(_ model: String = "company") throws -> (writer: DatabaseQueue, stack: DataStack) {
        let queue = try DatabaseQueue()
        try AppDatabase.fill(queue)
        return (queue, try DataStack(model: Fixtures.model(model), in: queue))
    }

    @Test("A sync in a transaction is committed and rolled back with the app's rows")
    func syncIsCommittedWithRowsOfTheApp() async throws {
        let (queue, stack) = try app()
        let cursor = cursor
        let day1 = try Fixtures.payload("day1")
        await #expect(throws: Undone.self) {
            try await queue.write { db throws in
                let result = try Sync.changes(day1, inEntity: "User", stack: stack, in: db)
                #expect(result.root.inserted == 8)
                #expect(try stack.count("User", in: db) == 8)
                try cursor.insert(db)
                throw Undone()
            }
        }
        #expect(try await stack.count("User") == 0)
        #expect(try await queue.read { db in try AppDatabase.Cursor.fetchCount(db) } == 0)
        try await queue.write { db throws in
            try Sync.changes(day1, inEntity: "User", stack: stack, in: db)
            try cursor.insert(db)
        }
        #expect(try await stack.count("User") == 8)
        #expect(try await queue.read { db in try AppDatabase.Cursor.fetchAll(db) } == [cursor])
        #expect(try await Sync.changes(day1, inEntity: "User", stack: stack).isEmpty)
    }

    @Test("A sync that fails in a transaction rolls back its own changes only")
    func failedSyncRollsBackAlone() async throws {
        let (queue, stack) = try app()
        let cursor = cursor
        try await queue.write { db throws in
            try Sync.changes([["id": 1, "first_name": "Ann"]] as JSONValue, inEntity: "User", stack: stack, in: db)
            let error = #expect(throws: SyncError.self) {
                var options = SyncOptions()
                options.isStrict = true
                try Sync.changes(
                    [["id": 2], ["id": 3, "age": "no number"]] as [[String: Any]], inEntity: "User", stack: stack,
                    options: options, in: db)
            }
            #expect(error?.code == .typeMismatch)
            try cursor.insert(db)
        }
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1)])
        #expect(try await queue.read { db in try AppDatabase.Cursor.fetchCount(db) } == 1)
    }

    @Test("A plan in a transaction sees its writes and changes nothing")
    func planSeesTheTransaction() async throws {
        let (queue, stack) = try app()
        try await queue.write { db throws in
            try Sync.changes(
                .json(["users": [["id": 1], ["id": 2]]]), inEntities: ["users": "User"], stack: stack, in: db)
            let json: JSONValue = [["id": 2], ["id": 3]]
            let plans = [
                try Sync.plan(json, inEntity: "User", stack: stack, in: db),
                try Sync.plan(Data("[{\"id\":2},{\"id\":3}]".utf8), inEntity: "User", stack: stack, in: db),
                try Sync.plan([["id": 2], ["id": 3]] as [[String: Any]], inEntity: "User", stack: stack, in: db),
                try Sync.plan(.json(["users": json]), inEntities: ["users": "User"], stack: stack, in: db),
                try Sync.plan(
                    Data("{\"users\":[{\"id\":2},{\"id\":3}]}".utf8), inEntities: ["users": "User"], stack: stack,
                    in: db),
            ]
            for plan in plans {
                #expect(plan["User"].inserted == [.integer(3)])
                #expect(plan["User"].deleted == [.integer(1)])
            }
            #expect(try stack.fetch("User", in: db).map(\.key) == [.integer(1), .integer(2)])
        }
        #expect(try await stack.count("User") == 2)
    }

    @Test("A sync outside of a transaction opens its own")
    func syncOpensATransaction() async throws {
        let (queue, stack) = try app()
        try await queue.writeWithoutTransaction { db throws in
            try Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack, in: db)
            #expect(!db.isInsideTransaction)
        }
        #expect(try await stack.count("User") == 1)
    }

    @Test("A page in the caller's transaction is an error")
    func pageIsAnError() async throws {
        let (queue, stack) = try app()
        let run = PagedImport()
        let error = await #expect(throws: SyncError.self) {
            try await queue.write { db throws in
                var options = SyncOptions()
                options.payloadKind = .page(of: run)
                try Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack, options: options, in: db)
            }
        }
        #expect(error?.code == .invalidOption)
        #expect(try await stack.count("User") == 0)
    }

    @Test("A sync in a transaction works with a stack's own file, and on another connection to it")
    func ownFileTakesTransactions() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let stack = try DataStack(at: folder.database)
        let day2 = try Fixtures.payload("day2")
        let wanted = try await Sync.plan(day2, inEntity: "User", stack: stack)
        let found = try await stack.write { db in try Sync.plan(day2, inEntity: "User", stack: stack, in: db) }
        #expect(found["User"] == wanted["User"])
        let other = try DatabaseQueue(path: folder.database.path)
        try await other.write { db throws in
            #expect(try Sync.changes(day2, inEntity: "User", stack: stack, in: db)["User"] == wanted["User"])
        }
        #expect(try await Sync.changes(day2, inEntity: "User", stack: stack).isEmpty)
    }

    @Test("A sync in a transaction of another database is an error")
    func otherDatabaseIsAnError() async throws {
        let (_, stack) = try app()
        let other = try DatabaseQueue()
        let error = await #expect(throws: SyncError.self) {
            try await other.write { db throws in
                try Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack, in: db)
            }
        }
        #expect(error?.code == .cannotOpenStore)
        #expect(try AppDatabase.schema(other) == [])
    }

    @Test("A sync that was rolled back does not affect the next one")
    func rolledBackSyncLeavesNoState() async throws {
        let queue = try DatabaseQueue()
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Item", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)])
        ])
        let stack = try DataStack(model: model, in: queue)
        let (one, two) = (Data(#"[{"id":1,"name":"a"}]"#.utf8), Data(#"[{"id":1,"name":"b"},{"id":2}]"#.utf8))
        try await Sync.changes(one, inEntity: "Item", stack: stack)
        await #expect(throws: Undone.self) {
            try await queue.write { db throws in
                #expect(try Sync.changes(two, inEntity: "Item", stack: stack, in: db).root.inserted == 1)
                #expect(try Sync.changes(two, inEntity: "Item", stack: stack, in: db).isEmpty)
                throw Undone()
            }
        }
        #expect(try await stack.fetch("Item").map { $0["name"]?.string } == ["a"])
        #expect(try await Sync.changes(one, inEntity: "Item", stack: stack).isEmpty)
        let result = try await queue.write { db in try Sync.changes(two, inEntity: "Item", stack: stack, in: db) }
        #expect(result["Item"].inserted == [.integer(2)])
        #expect(result["Item"].updated.map(\.key) == [.integer(1)])
        #expect(try await stack.fetch("Item").map { $0["name"]?.string } == ["b", nil])
    }

    @Test("A sync that was rolled back keeps pending references", arguments: [false, true])
    func rolledBackSyncKeepsReferences(isSingleRow: Bool) async throws {
        let (queue, stack) = try app()
        // There are so many that a sync of a small payload does not check them all.
        let waiting = (1...20).map { JSONValue.object([.init("id", JSONValue($0)), .init("company_id", 7)]) }
        try await Sync.changes(JSONValue.array(waiting), inEntity: "User", stack: stack)
        let other: JSONValue = [["id": 99]]
        // The row is inserted without a sync. The savepoint, in which the row is missing, is rolled back alone.
        try await queue.write { db throws in
            try db.execute(sql: "INSERT INTO Company (id, name) VALUES (7, 'Acme')")
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM Company")
                if isSingleRow {
                    try stack.insertOrUpdate("User", with: ["id": 99], in: db)
                } else {
                    try Sync.changes(other, inEntity: "User", stack: stack, operations: .insert, in: db)
                }
                return .rollback
            }
        }
        try await Sync.changes(other, inEntity: "User", stack: stack, operations: .insert)
        #expect(try await stack.count("User", where: "company.name == 'Acme'") == 20)
    }

    @Test("A sync in a transaction ignores a deferred foreign key violation of the app")
    func deferredViolationIsIgnored() async throws {
        let (queue, stack) = try app()
        try await queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE favourite (user INTEGER REFERENCES User(id) DEFERRABLE INITIALLY DEFERRED);
                    INSERT INTO favourite VALUES (9)
                    """)
            try Sync.changes([["id": 1]] as JSONValue, inEntity: "Tag", stack: stack, in: db)
            try Sync.changes([["id": 9]] as JSONValue, inEntity: "User", stack: stack, in: db)
        }
        #expect(try await stack.count("User") == 1)
        await #expect(throws: DatabaseError.self) {
            try await queue.write { db throws in
                try db.execute(sql: "INSERT INTO favourite VALUES (10)")
                try Sync.changes([["id": 1], ["id": 2]] as JSONValue, inEntity: "Tag", stack: stack, in: db)
            }
        }
        #expect(try await stack.fetch("Tag").map(\.key) == [.integer(1)])
    }

    @Test("A plan on a read-only connection is an error")
    func readOnlyConnectionIsAnError() async throws {
        let (queue, stack) = try app()
        let error = await #expect(throws: SyncError.self) {
            try await queue.read { db throws in
                try Sync.plan([["id": 1]] as JSONValue, inEntity: "User", stack: stack, in: db)
            }
        }
        #expect(error?.message == "this connection to the database is read-only")
    }

    @Test("A sync in a database with other tables is an error, also if its schema version is the same")
    func otherTablesAreAnError() async throws {
        let (queue, stack) = try app()
        try await Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack)
        let other = try DatabaseQueue()
        let version = try await queue.read { db in try Int.fetchOne(db, sql: "PRAGMA schema_version") } ?? 0
        try await other.write { db in try db.execute(sql: "PRAGMA schema_version = \(version)") }
        for isSingleRow in [false, true] {
            let error = await #expect(throws: SyncError.self) {
                try await other.write { db throws in
                    if isSingleRow {
                        try stack.insertOrUpdate("Tag", with: ["id": 1], in: db)
                    } else {
                        try Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack, in: db)
                    }
                }
            }
            #expect(error?.code == .cannotOpenStore)
        }
    }

    @Test("A sync in a transaction notifies an observer once, and only if it changes observed rows")
    func observersAreNotifiedOnce() async throws {
        let (queue, stack) = try app()
        let regions = Wakes()
        let observation = DatabaseRegionObservation(tracking: Table("User"))
            .start(in: queue, onError: { _ in }, onChange: { _ in regions.add() })
        defer { observation.cancel() }
        try await queue.write { [cursor] db in
            try Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack, in: db)
            try cursor.insert(db)
        }
        #expect(regions.count == 1)
        let again = try await queue.write { db throws in
            try Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack, in: db)
        }
        #expect(again.isEmpty)
        #expect(regions.count == 1)
    }
}

/// A counter for any thread.
private final class Wakes: @unchecked Sendable {
    private let lock = NSLock()
    private var wakes = 0

    var count: Int { lock.withLock { wakes } }

    func add() { lock.withLock { wakes += 1 } }
}
