import GRDB
import Testing

@testable import SyncSQLite

@Suite("Rows that are inserted many to a statement")
struct BulkInsertionTests {
    /// Inserts rows with the numbers from 0 on and their squares.
    ///
    /// - Returns: What is stored, and how many rows were not the first ones of their statements.
    private func insert(_ count: Int, _ schema: String = "") throws -> (rows: [[Int]], inBulk: Int) {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(sql: "CREATE TABLE Item (square INTEGER, note TEXT DEFAULT 'x', number INTEGER); \(schema)")
            // Of three parameters a row, the second is that of no column.
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
        "are all stored, in order, whether there are fewer, as many or more than a statement takes",
        arguments: [(0, 0), (1, 0), (15, 0), (16, 15), (17, 15), (31, 15), (32, 30), (40, 30)])
    func counts(count: Int, inBulk: Int) throws {
        let inserted = try insert(count)
        #expect(inserted.rows == (0..<count).map { [$0, $0 * $0] } && inserted.inBulk == inBulk)
    }

    @Test(
        "go one by one into a table with a trigger",
        arguments: ["CREATE TRIGGER", "CREATE TEMP TRIGGER"], ["Item", "ITEM"])
    func trigger(_ create: String, _ table: String) throws {
        let inserted = try insert(
            20,
            """
            CREATE TABLE Other (number INTEGER);
            \(create) watch AFTER INSERT ON \(table) BEGIN INSERT INTO Other VALUES (new.number); END
            """)
        #expect(inserted.rows == (0..<20).map { [$0, $0 * $0] } && inserted.inBulk == 0)
    }

    @Test("do not mind a trigger on another table")
    func otherTrigger() throws {
        let inserted = try insert(
            20,
            """
            CREATE TABLE Item2 (number INTEGER);
            CREATE TRIGGER watch AFTER INSERT ON Item2 BEGIN DELETE FROM Item; END
            """)
        #expect(inserted.rows.count == 20 && inserted.inBulk == 15)
    }

    @Test("fail as those of other statements do")
    func failure() throws {
        #expect(throws: DatabaseError.self) { try insert(20, "CREATE UNIQUE INDEX odd ON Item (number % 19)") }
    }
}
