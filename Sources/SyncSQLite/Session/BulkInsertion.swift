import GRDB

/// Inserts rows into one table, many to a statement where nobody could tell the difference: that saves most of what
/// SQLite does per statement.
///
/// `OR FAIL` spares the journal that a statement of several rows would need in order to be undone by itself; any failure
/// undoes the whole transaction. Triggers would inherit it, so a table that has some gets its rows one by one.
struct BulkInsertion {
    private static let rowsPerStatement = 16

    private let db: Database
    private let one: RawStatement
    private let many: RawStatement?
    /// The parameters from one row of a statement to the next.
    private let width: Int

    /// - Parameters:
    ///   - names: The columns, quoted.
    ///   - parameters: Per column the parameter that has its value in the first row, from 1 to `width`.
    init(
        into table: String, names: [String], parameters: [Int], width: Int, rowCount: Int, in db: Database
    ) throws {
        self.width = width
        self.db = db
        // A number only where it is not the next one: SQLite looks for each parameter among all that have a number.
        var last = 0
        func parameter(_ number: Int) -> String {
            defer { last = number }
            return number == last + 1 ? "?" : "?\(number)"
        }
        func row(_ index: Int) -> String {
            "(" + parameters.map { parameter(index * width + $0) }.joined(separator: ", ") + ")"
        }
        let columns = "INTO \(table.quoted) (\(names.joined(separator: ", "))) VALUES "
        one = try RawStatement(db, "INSERT " + columns + row(0))
        last = 0
        let isInBulk = try rowCount >= Self.rowsPerStatement && !Self.hasTriggers(table, db)
        many =
            isInBulk
            ? try RawStatement(
                db, "INSERT OR FAIL " + columns + (0..<Self.rowsPerStatement).map(row).joined(separator: ", ")) : nil
    }

    /// - Parameters:
    ///   - bind: Binds a row, by its index, to a statement whose parameters for it begin after an offset.
    ///   - failed: What a failure of SQLite's is to the caller, who knows the row.
    func insert(
        _ count: Int, _ bind: (Int, RawStatement, Int) throws -> Void,
        failed: (Int, any Error) -> any Error = { $1 }
    ) throws {
        var next = 0
        if let many {
            while next + Self.rowsPerStatement <= count {
                for row in 0..<Self.rowsPerStatement { try bind(next + row, many, row * width) }
                do {
                    try many.execute()
                } catch {
                    // The rows before it stay, and are counted.
                    throw failed(min(next + db.changesCount, count - 1), error)
                }
                next += Self.rowsPerStatement
            }
        }
        for row in next..<count {
            try bind(row, one, 0)
            do { try one.execute() } catch { throw failed(row, error) }
        }
    }

    private static func hasTriggers(_ table: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE)
                    OR EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE)
                """, arguments: [table]) ?? true
    }
}
