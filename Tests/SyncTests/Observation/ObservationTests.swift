import Foundation
import GRDB
import Sync
import Testing

@Suite("Observations", .timeLimit(.minutes(60)))
struct ObservationTests {
    private func stack(in writer: any DatabaseWriter) async throws -> DataStack {
        func open(_ writer: some DatabaseWriter) throws -> DataStack {
            try DataStack(model: Fixtures.model("company"), in: writer)
        }
        let stack = try open(writer)
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    @Test(
        "An observation gives the current rows, and then each other result once per transaction",
        arguments: [false, true])
    func observedRows(inPool: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let writer: any DatabaseWriter =
            inPool ? try DatabasePool(path: folder.database.path) : try DatabaseQueue(path: folder.database.path)
        let stack = try await stack(in: writer)
        var rows = stack.observe("User", where: "id <= 3", orderedBy: "-id").makeAsyncIterator()
        #expect(try await rows.next()?.map(\.key) == [.integer(3), .integer(2), .integer(1)])

        // Other rows, equal rows and rolled back changes give no value.
        try await Sync.update(id: 5, with: ["age": 99], inEntity: "User", stack: stack)
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        try await writer.writeWithoutTransaction { db throws in
            try db.inTransaction {
                try Sync.changes([["id": 1]] as JSONValue, inEntity: "User", stack: stack, in: db)
                return .rollback
            }
        }
        try await Sync.delete(id: 2, inEntity: "User", stack: stack)
        #expect(try await rows.next()?.map(\.key) == [.integer(3), .integer(1)])

        // Many writes in one transaction, by GRDB and by a sync, give one value.
        try await writer.write { db throws in
            try db.execute(sql: "UPDATE User SET age = 1 WHERE id = 1")
            try Sync.changes(
                [["id": 1, "first_name": "A"], ["id": 3, "first_name": "C"]] as JSONValue, inEntity: "User",
                stack: stack, operations: .update, in: db)
        }
        #expect(try await rows.next()?.map { $0["firstName"]?.string } == ["C", "A"])

        // A changed to-one link gives a value too.
        try await writer.write { db in try db.execute(sql: "UPDATE User SET companyID = NULL WHERE id = 1") }
        #expect(try await rows.next()?.count == 2)
        let before = try await stack.count("User")
        try stack.deleteAllRows()
        #expect(before > 0)
        #expect(try await rows.next()?.isEmpty == true)
    }

    @Test("GRDB's observation of related rows gives a value after a change of these rows")
    func observedRelatedRows() async throws {
        let writer = try DatabaseQueue()
        let stack = try await stack(in: writer)
        let company = try #require(try await stack.fetch("Company").first)
        let names = ValueObservation.tracking { db in
            try stack.fetchRelated("users", of: company, in: db).map { $0["firstName"]?.string }
        }
        var values = names.removeDuplicates().values(in: writer).makeAsyncIterator()
        let before = try #require(try await values.next())
        #expect(!before.isEmpty)
        try await writer.write { db in try db.execute(sql: "UPDATE User SET firstName = 'Z'") }
        #expect(try await values.next() == before.map { _ in "Z" })
    }

    @Test("An observation of one row or of a count gives its values, and nil for a missing row")
    func observedRowAndCount() async throws {
        let stack = try await stack(in: try DatabaseQueue())
        var row = stack.observe("User", id: 1).makeAsyncIterator()
        var count = stack.observeCount("Note", where: "text CONTAINS[c] 'e'").makeAsyncIterator()
        #expect(try await row.next()??["firstName"]?.string == "Ada")
        let number = try #require(try await count.next())
        try await Sync.update(id: 1, with: ["first_name": "Augusta"], inEntity: "User", stack: stack)
        #expect(try await row.next()??["firstName"]?.string == "Augusta")
        try await Sync.update(id: 1, with: ["company_id": nil] as JSONValue, inEntity: "User", stack: stack)
        #expect(try await row.next()??["firstName"]?.string == "Augusta")
        try await Sync.delete(id: 1, inEntity: "User", stack: stack)
        let gone = try await row.next()
        #expect(gone != nil)
        #expect(gone.flatMap(\.self) == nil)
        #expect(try await count.next() ?? number < number)
    }

    @Test("An observation fails for an unknown entity, and after the store gets another model")
    func observationFails() async throws {
        let queue = try DatabaseQueue()
        let stack = try await stack(in: queue)
        var unknown = stack.observe("Usr").makeAsyncIterator()
        let error = await #expect(throws: SyncError.self) { _ = try await unknown.next() }
        #expect(error?.code == .unknownEntity)
        var rows = stack.observe("Tag").makeAsyncIterator()
        _ = try await rows.next()
        let other = try SyncModel(entities: [SyncModel.Entity("Tag", attributes: [SyncModel.Attribute("id", .string)])])
        let next = try DataStack(model: other, in: queue, migration: .allowingDataLoss)
        try await Sync.changes([["id": "x"]] as JSONValue, inEntity: "Tag", stack: next)
        let mismatch = await #expect(throws: SyncError.self) { while try await rows.next() != nil {} }
        #expect(mismatch?.code == .modelMismatch)
    }

    @Test("An observation ends when its task is cancelled, and keeps the stack until then")
    func cancelledObservationEnds() async throws {
        weak var gone: DataStack?
        var stack: DataStack? = try await self.stack(in: try DatabaseQueue())
        gone = stack
        let task = Task { [observation = try #require(stack).observe("User")] in
            var values = 0
            for try await _ in observation { values += 1 }
            return values
        }
        stack = nil
        while gone == nil { await Task.yield() }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        #expect(try await task.value <= 1)
        while gone != nil { await Task.yield() }
    }

    @Test("Observers of GRDB are notified once per sync that changes their table")
    func observersOfGRDBAreNotified() async throws {
        let queue = try DatabaseQueue()
        let stack = try await stack(in: queue)
        let observer = Commits("User")
        queue.add(transactionObserver: observer)
        var users = ValueObservation.tracking { db in try Row.fetchAll(db, sql: "SELECT * FROM User").count }
            .values(in: queue).makeAsyncIterator()
        #expect(try await users.next() == 8)
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        #expect(observer.changes == 0)
        try await Sync.changes(
            [["id": 500, "text": "new"]] as JSONValue, inEntity: "Note", stack: stack, operations: .insert)
        #expect(observer.changes == 0)
        try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        #expect(observer.changes == 1)
        #expect(observer.rows == 0)
        #expect(try await users.next() == 8)
    }

    @Test("A new order of a many-to-many list is an update of its row, and observers of GRDB are notified")
    func newOrderIsAnUpdate() async throws {
        let schema = """
            {"entities": {
              "User": {"attributes": {"id": "integer"},
                "relationships": {"tags": {"entity": "Tag", "many": true, "ordered": true}}},
              "Tag": {"attributes": {"id": "integer"}}}}
            """
        let queue = try DatabaseQueue()
        let stack = try DataStack(model: SyncModel(schemaData: Data(schema.utf8)), in: queue)
        func sync(_ tags: JSONValue, _ operations: SyncOperations = .all) async throws -> SyncResult {
            try await Sync.changes(
                [["id": 1, "tags": tags]], inEntity: "User", stack: stack, operations: operations)
        }
        func order() async throws -> [StoredValue?] {
            let user = try #require(try await stack.fetch("User").first)
            return try await stack.fetchRelated("tags", of: user).map { $0["id"] }
        }
        _ = try await sync([["id": 1], ["id": 2], ["id": 3]])
        let observer = Commits("User_tags")
        queue.add(transactionObserver: observer)
        for (tags, operations, expected) in [
            ([["id": 2], ["id": 1], ["id": 3]], .all, [2, 1, 3]), ([["id": 1], ["id": 3]], .allButDelete, [1, 3, 2]),
        ] as [(JSONValue, SyncOperations, [Int64])] {
            let before = observer.changes
            let result = try await sync(tags, operations)
            #expect(result["User"].updated.map(\.key) == [.integer(1)] && result["User"].updatedCount == 1)
            #expect(result["User"].unchangedCount == 0 && result.linksAdded == 0 && result.linksRemoved == 0)
            #expect(observer.changes == before + 1)
            #expect(try await order() == expected.map { .integer($0) })
            #expect(try await sync(tags, operations).isEmpty)
        }
        #expect(observer.changes == 2)
    }

    @Test("Rows that move behind those of a one-to-many list are updated")
    func movedRowsAreUpdated() async throws {
        let schema = """
            {"entities": {
              "User": {"attributes": {"id": "integer"},
                "relationships": {"notes": {"entity": "Note", "many": true, "ordered": true, "inverse": "user"}}},
              "Note": {"attributes": {"id": "integer"}, "relationships": {"user": {"entity": "User"}}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        try await Sync.changes(
            [["id": 1, "notes": [["id": 1], ["id": 2]]]] as JSONValue, inEntity: "User", stack: stack)
        let result = try await Sync.changes(
            [["id": 1, "notes": [["id": 2]]]] as JSONValue, inEntity: "User", stack: stack,
            operations: .allButDelete)
        #expect(result["Note"].updated.contains(.init(key: .integer(1), changedAttributes: [])))
    }

    @Test("Several fetches in one read see the same rows while a sync runs")
    func snapshot() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let stack = try await stack(in: try DatabasePool(path: folder.database.path))
        let (begun, synced) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let seen = stack.read { db throws in
            let users = try stack.count("User", where: "id == 9", in: db)
            begun.signal()
            synced.wait()
            let notes = try stack.count("Note", where: "user.id == 9", in: db)
            return [users, notes, try stack.count("User", where: "id == 9", in: db)]
        }
        await Task.detached { Self.wait(for: begun) }.value
        try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        #expect(try await stack.count("User", where: "id == 9") == 1)
        synced.signal()
        #expect(try await seen == [0, 0, 0])
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("syncResults gives the results that the stack committed and that changed rows")
    func resultsOfSyncs() async throws {
        let queue = try DatabaseQueue()
        let stack = try await stack(in: queue)
        var results = stack.syncResults.makeAsyncIterator()
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        _ = try await Sync.plan(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        let nested = try await queue.write { db throws in
            try Sync.changes(
                [["id": 4, "age": 1]] as JSONValue, inEntity: "User", stack: stack, operations: .update, in: db)
        }
        #expect(!nested.isEmpty)
        let day2 = try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        #expect(await results.next() == day2)
        let row = try await Sync.insertOrUpdate(["id": 1, "age": 1], inEntity: "User", stack: stack).result
        #expect(await results.next() == row)
        let update = try await Sync.update(id: 1, with: ["age": 2], inEntity: "User", stack: stack)?.result
        #expect(await results.next() == update)
        let deletion = try await Sync.delete(id: 1, inEntity: "User", stack: stack)
        #expect(await results.next() == deletion)
    }
}

/// A transaction observer of the app that counts changes of a table.
private final class Commits: TransactionObserver, @unchecked Sendable {
    private let table: String
    private let lock = NSLock()
    private var counts = (changes: 0, rows: 0)

    var changes: Int { lock.withLock { counts.changes } }
    var rows: Int { lock.withLock { counts.rows } }

    init(_ table: String) { self.table = table }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == table }
    func databaseDidChange() { lock.withLock { counts.changes += 1 } }
    func databaseDidChange(with event: DatabaseEvent) { lock.withLock { counts.rows += 1 } }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
