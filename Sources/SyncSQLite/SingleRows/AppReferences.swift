import GRDB
import SyncCore
import SyncStore

/// The columns by which tables that are not in the model reference the key of a table of the model, also through other
/// tables.
struct AppReferences {
    private let db: Database
    /// The columns to update, parents first.
    private let columns: [QualifiedColumn]

    var isEmpty: Bool { columns.isEmpty }

    init(to table: TableLayout, _ layout: StoreLayout, in db: Database) throws {
        self.db = db
        let keys = try ForeignKeyList.of(db)
        let own = layout.foldedTableNames
        var found: [QualifiedColumn] = []
        var seen: Set<QualifiedColumn> = []
        var waiting = [QualifiedColumn(table: table.name, name: table.keyColumn).folded]
        while !waiting.isEmpty {
            for child in keys.columns(referencing: waiting.removeFirst()) {
                guard seen.insert(child.folded).inserted else { continue }
                waiting.append(child.folded)
                // The sync itself updates the tables of the model.
                if !own.contains(child.folded.table) { found.append(child) }
            }
        }
        columns = found
    }

    /// Replaces a key in the columns. With `orIgnore`, rows that a constraint rejects keep the former key.
    func replace(_ old: DatabaseValue, by new: DatabaseValue, orIgnore: Bool = false) throws {
        let update = orIgnore ? "UPDATE OR IGNORE" : "UPDATE"
        for column in columns {
            let name = column.name.quoted
            try db.run("\(update) \(column.table.quoted) SET \(name) = ? WHERE \(name) = ?", new, old)
        }
    }
}
