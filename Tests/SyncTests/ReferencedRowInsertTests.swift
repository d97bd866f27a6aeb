import Foundation
import GRDB
import Sync
import Testing

/// A store with many pending references links rows that were not inserted by a sync.
@Suite("Rows that are awaited and not inserted by a sync")
struct ReferencedRowInsertTests {
    private struct Undone: Error {}

    /// Runs `body` with a store of a hundred users. The companies they reference, with keys 1,000 higher, are missing.
    private func withStore(_ body: (DataStack, URL) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let stack = try DataStack(model: Fixtures.model("company"), at: folder.database)
        let users = JSONValue.array((1...100).map { ["id": JSONValue($0), "company_id": JSONValue(1_000 + $0)] })
        #expect(try await Sync.changes(users, inEntity: "User", stack: stack).pendingReferences.count == 100)
        try await touch(stack)
        try await body(stack, folder.database)
        try stack.close()
    }

    /// Syncs one user without a pending reference.
    private func touch(_ stack: DataStack) async throws {
        try await Sync.insertOrUpdate(["id": 7_777, "first_name": "x"], inEntity: "User", stack: stack)
    }

    private static func insert(_ company: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO Company (id) VALUES (?)", arguments: [company])
    }

    private func linkedUsers(_ stack: DataStack) async throws -> [Int] {
        try await stack.read { db in
            try Int.fetchAll(db, sql: "SELECT id FROM User WHERE companyID = id + 1000 ORDER BY id")
        }
    }

    @Test("A row that the app inserts is linked by the next sync of the referencing entity")
    func rowOfTheAppIsLinked() async throws {
        try await withStore { stack, _ in
            for number in 1...3 {
                try await stack.write { db in try Self.insert(1_000 + number, db) }
                #expect(try await linkedUsers(stack).count == number - 1)
                try await touch(stack)
                #expect(try await linkedUsers(stack) == Array(1...number))
                try await touch(stack)
            }
        }
    }

    @Test("A row that another connection inserts is linked by the next sync")
    func rowOfAnotherConnectionIsLinked() async throws {
        try await withStore { stack, url in
            let other = try DatabaseQueue(path: url.path)
            try await other.write { db in try Self.insert(1_005, db) }
            try other.close()
            try await touch(stack)
            #expect(try await linkedUsers(stack) == [5])
        }
    }

    @Test("An inserted row is linked by a sync of its entity, not by one of an unrelated entity")
    func unrelatedSyncLinksNothing() async throws {
        try await withStore { stack, _ in
            try await stack.write { db in try Self.insert(1_006, db) }
            try await Sync.insertOrUpdate(["id": 1], inEntity: "Tag", stack: stack)
            #expect(try await linkedUsers(stack) == [])
            try await Sync.insertOrUpdate(["id": 9], inEntity: "Company", stack: stack)
            #expect(try await linkedUsers(stack) == [6])
        }
    }

    @Test("An inserted row is linked after a sync that was rolled back, and after a plan")
    func rowIsLinkedAfterRollback() async throws {
        try await withStore { stack, _ in
            try await stack.write { db in try Self.insert(1_007, db) }
            try await #require(throws: Undone.self) {
                try await stack.write { db in
                    try stack.insertOrUpdate("User", with: ["id": 7_777, "first_name": "y"], in: db)
                    throw Undone()
                }
            }
            #expect(try await linkedUsers(stack) == [])
            _ = try await Sync.plan(
                [["id": 7_777]] as JSONValue, inEntity: "User", stack: stack, options: SyncOptions(deletionLimit: nil))
            #expect(try await linkedUsers(stack) == [])
            try await touch(stack)
            #expect(try await linkedUsers(stack) == [7])
        }
    }

    @Test("A row whose insertion was rolled back is linked when it is inserted again")
    func rolledBackRowIsLinkedLater() async throws {
        try await withStore { stack, _ in
            try await #require(throws: Undone.self) {
                try await stack.write { db in
                    try Self.insert(1_008, db)
                    try stack.insertOrUpdate("User", with: ["id": 7_777], in: db)
                    throw Undone()
                }
            }
            try await touch(stack)
            #expect(try await linkedUsers(stack) == [])
            try await Sync.insertOrUpdate(["id": 1_008], inEntity: "Company", stack: stack)
            #expect(try await linkedUsers(stack) == [8])
        }
    }

    @Test("Rows that are inserted before or after a sync in its transaction are linked")
    func rowOfSameTransactionIsLinked() async throws {
        try await withStore { stack, _ in
            try await stack.write { db in
                try Self.insert(1_009, db)
                try stack.insertOrUpdate("User", with: ["id": 7_777], in: db)
                try Self.insert(1_010, db)
            }
            #expect(try await linkedUsers(stack) == [9])
            try await touch(stack)
            #expect(try await linkedUsers(stack) == [9, 10])
        }
    }
}
