import Foundation
import GRDB
import Sync
import Testing

/// A store that remembers many references still finds every row that comes by other means than a sync.
@Suite("A row that many references of a store do not wait for, written by other means,")
struct LateRowTests {
    private struct Undone: Error {}

    /// A hundred users whose companies, of the same numbers and a thousand more, are not there.
    private func withStore(_ body: (DataStack, URL) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let stack = try DataStack(model: Fixtures.model("company"), at: folder.database)
        let users = JSONValue.array((1...100).map { ["id": JSONValue($0), "company_id": JSONValue(1_000 + $0)] })
        #expect(try await Sync.changes(users, inEntity: "User", stack: stack).unresolved.count == 100)
        try await touch(stack)
        try await body(stack, folder.database)
        try stack.close()
    }

    /// A sync that says nothing about the users with companies to come.
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

    @Test("is linked at the next sync of the rows that wait, each time")
    func insertedByTheApp() async throws {
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

    @Test("by another connection, is linked")
    func insertedByAnotherConnection() async throws {
        try await withStore { stack, url in
            let other = try DatabaseQueue(path: url.path)
            try await other.write { db in try Self.insert(1_005, db) }
            try other.close()
            try await touch(stack)
            #expect(try await linkedUsers(stack) == [5])
        }
    }

    @Test("is linked at a sync of its entity, not at one of others")
    func otherEntities() async throws {
        try await withStore { stack, _ in
            try await stack.write { db in try Self.insert(1_006, db) }
            try await Sync.insertOrUpdate(["id": 1], inEntity: "Tag", stack: stack)
            #expect(try await linkedUsers(stack) == [])
            try await Sync.insertOrUpdate(["id": 9], inEntity: "Company", stack: stack)
            #expect(try await linkedUsers(stack) == [6])
        }
    }

    @Test("is linked after a sync that was undone, or only planned")
    func undone() async throws {
        try await withStore { stack, _ in
            try await stack.write { db in try Self.insert(1_007, db) }
            try await #require(throws: Undone.self) {
                try await stack.write { db in
                    try stack.insertOrUpdate("User", with: ["id": 7_777, "first_name": "y"], in: db)
                    throw Undone()
                }
            }
            #expect(try await linkedUsers(stack) == [])
            _ = try await Sync.plan([["id": 7_777]] as JSONValue, inEntity: "User", stack: stack)
            #expect(try await linkedUsers(stack) == [])
            try await touch(stack)
            #expect(try await linkedUsers(stack) == [7])
        }
    }

    @Test("in a transaction that was undone, is waited for")
    func insertionUndone() async throws {
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

    @Test("in the transaction of a sync, before it or after it, is linked")
    func sameTransaction() async throws {
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
