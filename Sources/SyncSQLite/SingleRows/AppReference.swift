import GRDB
import SyncCore
import SyncStore

/// A column by which a table that is not in the model references the key of a table of the model.
struct AppReference {
    let table: String
    let column: String

    /// Returns the references to a table. Foreign keys of several columns are omitted.
    static func all(to table: TableLayout, _ layout: StoreLayout, in db: Database) throws -> [AppReference] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT name, min("from"), min("to")
                FROM main.sqlite_schema, pragma_foreign_key_list(name, 'main')
                WHERE type = 'table' AND name NOT GLOB 'sync_*' AND "table" = ? COLLATE NOCASE
                GROUP BY name, id HAVING count(*) = 1
                """)
        let rows = try Row.fetchAll(statement, arguments: [table.name])
        guard !rows.isEmpty else { return [] }
        let own = Set((layout.tables.map(\.name) + layout.joinTables).map(\.foldedForSQL))
        let isPrimaryKey =
            try db.primaryKey(table.name, in: "main").columns.map(\.foldedForSQL) == [table.keyColumn.foldedForSQL]
        return rows.compactMap { row in
            let (name, column, target): (String, String, String?) = (row[0], row[1], row[2])
            let isToKey = target.map { $0.foldedForSQL == table.keyColumn.foldedForSQL } ?? isPrimaryKey
            return isToKey && !own.contains(name.foldedForSQL) ? AppReference(table: name, column: column) : nil
        }
    }

    /// Replaces a key in the column. With `orIgnore`, rows that a constraint rejects keep the former key.
    func replace(_ old: DatabaseValue, by new: DatabaseValue, orIgnore: Bool = false, in db: Database) throws {
        try db.run(
            "UPDATE \(orIgnore ? "OR IGNORE " : "")\(table.quoted) SET \(column.quoted) = ? WHERE \(column.quoted) = ?",
            new, old)
    }
}
