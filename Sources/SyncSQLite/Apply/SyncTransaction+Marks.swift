import Foundation
import GRDB
import SyncCore

// What a run remembers of rows: in memory, and in a temporary table once that would take too much.
extension SyncTransaction {
    /// What earlier pages of the run, and what was applied of this one, said of a row.
    func marks(of row: StoredRow) throws -> RowMark {
        guard let known = run?.rows[row] else { return [] }
        return run?.table == nil ? known : known.union(try storedMarks(of: row))
    }

    /// Adds a mark to those of a row.
    ///
    /// - Returns: Those it had.
    @discardableResult
    mutating func add(_ mark: RowMark, to row: StoredRow) throws -> RowMark {
        guard let known = run?.rows.insert(mark, for: row) else { return [] }
        if run?.table == nil || known.isSuperset(of: mark) { return known }
        return known.union(try storedMarks(of: row))
    }

    private func storedMarks(of row: StoredRow) throws -> RowMark {
        guard let table = run?.table else { return [] }
        let statement = try statements.statement("SELECT mark FROM temp.\(table) WHERE tree = ? AND key = ?")
        statement.bind(Int64(row.tree), at: 1)
        statement.bind(row.key, at: 2)
        defer { statement.reset() }
        return try statement.step() ? RowMark(rawValue: UInt8(truncatingIfNeeded: statement.integer(0))) : []
    }

    /// Moves the marks to the table if they have become too many.
    mutating func limitMarks() throws {
        guard let size = run?.rows.size, size > options.pieces.markLimit else { return }
        let table = try run?.table ?? makeTable()
        run?.table = table
        let statement = try statements.statement(
            """
            INSERT INTO temp.\(table) (tree, key, mark) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET mark = mark | excluded.mark
            """)
        try run?.rows.removeAll { row, mark in
            statement.bind(Int64(row.tree), at: 1)
            statement.bind(row.key, at: 2)
            statement.bind(Int64(mark.rawValue), at: 3)
            try statement.execute()
        }
    }

    /// A table of this connection, which is there until the run or the connection ends. Keys are kept as they are.
    private func makeTable() throws -> String {
        let name = "\"sync_run_\(UUID().uuidString)\""
        try db.execute(
            sql: """
                CREATE TEMP TABLE \(name) (
                  tree INTEGER NOT NULL, key ANY NOT NULL, mark INTEGER NOT NULL, PRIMARY KEY (tree, key)
                ) STRICT, WITHOUT ROWID
                """)
        return name
    }

    /// The run is over.
    mutating func dropMarks() throws {
        guard run?.isEnding == true, let table = run?.table else { return }
        statements.removeAll()
        try db.execute(sql: "DROP TABLE temp.\(table)")
        run?.table = nil
    }
}
