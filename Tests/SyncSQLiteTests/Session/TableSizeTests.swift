import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite("Table size")
struct TableSizeTests {
    @Test(
        "A table with more rows than the limit is large",
        arguments: [
            (0, 0, .empty), (0, 5, .empty), (1, 0, .large), (1, 1, .small), (5, 6, .small), (5, 5, .small),
            (5, 4, .large),
        ] as [(Int, Int, TableSize)])
    func sizeDependsOnLimit(rows: Int, limit: Int, expected: TableSize) throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE \"My items\" (number INTEGER)")
            for number in 0..<rows { try db.execute(sql: "INSERT INTO \"My items\" VALUES (?)", arguments: [number]) }
            #expect(try TableSize(of: "\"My items\"", limit: limit, in: db) == expected)
        }
    }

    @Test("A table that was large is not counted again for the same or a lower limit")
    func remembersLargeTables() throws {
        try SessionStore.with(
            Models.links(), "INSERT INTO Company (id) VALUES (1), (2), (3), (4)"
        ) { store in
            #expect(try store.session.size(of: "\"Company\"", limit: 3) == .large)
            #expect(store.session.scratch == ["\"Company\"": 3])
            try store.db.execute(sql: "DELETE FROM Company WHERE id > 2")
            #expect(try store.session.size(of: "\"Company\"", limit: 3) == .large)
            #expect(try store.session.size(of: "\"Company\"", limit: 2) == .large)
            #expect(try store.session.size(of: "\"Company\"", limit: 4) == .small)
            #expect(try store.session.size(of: "\"Passport\"", limit: 4) == .empty)
        }
    }
}
