import Foundation
import GRDB
package import SyncCore
import SyncStore

// Marks of a run that take too much memory are in a temporary table of this connection.
extension SQLiteSession {
    package func marks(of rows: [StoredRow], in table: String) throws -> [RowMark] {
        let statement = try statements.statement("SELECT mark FROM temp.\(table) WHERE tree = ? AND key = ?")
        return try rows.map { row in
            statement.bind(Int64(row.table.index), at: 1)
            statement.bind(row.key, at: 2)
            defer { statement.reset() }
            return try statement.step() ? RowMark(rawValue: UInt8(truncatingIfNeeded: statement.integer(0))) : []
        }
    }

    package func move(_ marks: inout MarkedRows, to table: String?) throws -> String {
        let table = try table ?? makeMarkTable()
        let statement = try statements.statement(
            """
            INSERT INTO temp.\(table) (tree, key, mark) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET mark = mark | excluded.mark
            """)
        try marks.removeAll { row, mark in
            statement.bind(Int64(row.table.index), at: 1)
            statement.bind(row.key, at: 2)
            statement.bind(Int64(mark.rawValue), at: 3)
            try statement.execute()
        }
        return table
    }

    /// A table that is there until the run or the connection ends. Keys are kept as they are.
    private func makeMarkTable() throws -> String {
        let name = "\"sync_run_\(UUID().uuidString)\""
        try db.execute(
            sql: """
                CREATE TEMP TABLE \(name) (
                  tree INTEGER NOT NULL, key ANY NOT NULL, mark INTEGER NOT NULL, PRIMARY KEY (tree, key)
                ) STRICT, WITHOUT ROWID
                """)
        return name
    }

    package func dropMarks(in table: String) throws {
        statements.removeAll()
        try db.execute(sql: "DROP TABLE temp.\(table)")
    }
}
