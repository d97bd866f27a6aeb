import GRDB
import Testing

@testable import SyncSQLite

@Suite("Bulk insertion")
struct BulkInsertionTests {
    /// Inserts rows with the numbers from 0 and their squares.
    ///
    /// - Returns: The stored rows, and how many of them were not the first row of a statement.
    private func insert(_ count: Int, _ schema: String = "") throws -> (rows: [[Int]], inBulk: Int) {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(sql: "CREATE TABLE Item (square INTEGER, note TEXT DEFAULT 'x', number INTEGER); \(schema)")
            // Each row has three parameters. The second belongs to no column.
            let insertion = try BulkInsertion(
                into: "Item", names: ["\"number\"", "\"square\""], parameters: [1, 3], width: 3, rowCount: count, in: db
            )
            var inBulk = 0
            try insertion.insert(count) { row, statement, offset in
                if offset > 0 { inBulk += 1 }
                statement.bind(Int64(row), at: offset + 1)
                statement.bind(Int64(row * row), at: offset + 3)
            }
            let rows = try Row.fetchAll(db, sql: "SELECT number, square FROM Item WHERE note = 'x' ORDER BY rowid")
            return (rows.map { [$0[0], $0[1]] }, inBulk)
        }
    }

    @Test(
        "Rows are stored in order, whether they fill no, one or several statements",
        arguments: [(0, 0), (1, 0), (15, 0), (16, 15), (17, 15), (31, 15), (32, 30), (40, 30)])
    func storesAnyCount(count: Int, inBulk: Int) throws {
        let inserted = try insert(count)
        #expect(inserted.rows == (0..<count).map { [$0, $0 * $0] } && inserted.inBulk == inBulk)
    }

    @Test(
        "Rows of a table with a trigger are inserted one by one",
        arguments: ["CREATE TRIGGER", "CREATE TEMP TRIGGER"], ["Item", "ITEM"])
    func triggerPreventsBulk(_ create: String, _ table: String) throws {
        let inserted = try insert(
            20,
            """
            CREATE TABLE Other (number INTEGER);
            \(create) watch AFTER INSERT ON \(table) BEGIN INSERT INTO Other VALUES (new.number); END
            """)
        #expect(inserted.rows == (0..<20).map { [$0, $0 * $0] } && inserted.inBulk == 0)
    }

    @Test("A trigger on another table does not prevent bulk insertion")
    func otherTriggerAllowsBulk() throws {
        let inserted = try insert(
            20,
            """
            CREATE TABLE Item2 (number INTEGER);
            CREATE TRIGGER watch AFTER INSERT ON Item2 BEGIN DELETE FROM Item; END
            """)
        #expect(inserted.rows.count == 20 && inserted.inBulk == 15)
    }

    @Test("A violated constraint throws a DatabaseError")
    func violatedConstraintThrows() throws {
        #expect(throws: DatabaseError.self) { try insert(20, "CREATE UNIQUE INDEX odd ON Item (number % 19)") }
    }
}
