import Foundation
import GRDB
import SyncCore
import SyncStore

/// The columns by which tables that are not in the model reference the key of a table of the model, also through other
/// tables.
struct AppReferences {
    private let db: Database
    /// The columns to update, parents first.
    private let columns: [TableColumn]

    var isEmpty: Bool { columns.isEmpty }

    init(to table: TableLayout, _ layout: StoreLayout, in db: Database) throws {
        self.db = db
        let keys = try ForeignKeyColumns.of(db)
        let own = Set((layout.tables.map(\.name) + layout.joinTables).map(\.foldedForSQL))
        var found: [TableColumn] = []
        var seen: Set<TableColumn> = []
        var waiting = [TableColumn(table: table.name, name: table.keyColumn).folded]
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

private struct TableColumn: Hashable {
    let table: String
    let name: String

    /// The column with its names as SQLite compares them.
    var folded: TableColumn { TableColumn(table: table.foldedForSQL, name: name.foldedForSQL) }
}

/// The columns of all foreign keys of a database, by the columns that they reference.
private struct ForeignKeyColumns: Sendable {
    private var sources: [TableColumn: [TableColumn]] = [:]

    private init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, "from", "table", "to", seq FROM main.sqlite_schema, pragma_foreign_key_list(name, 'main')
                WHERE type = 'table' AND name NOT GLOB 'sync_*' ORDER BY name, id, seq
                """)
        for row in rows {
            let (table, column, target, seq): (String, String, String, Int) = (row[0], row[1], row[2], row[4])
            let named: String? = row[3]
            guard let key = try named ?? Self.primaryKey(of: target, in: db).dropFirst(seq).first else { continue }
            sources[TableColumn(table: target, name: key).folded, default: []].append(
                TableColumn(table: table, name: column))
        }
    }

    /// Returns the columns that a foreign key without columns references.
    private static func primaryKey(of table: String, in db: Database) throws -> [String] {
        try db.tableExists(table, in: "main") ? db.primaryKey(table, in: "main").columns : []
    }

    /// Returns the columns that reference a column, given with folded names.
    func columns(referencing column: TableColumn) -> [TableColumn] { sources[column] ?? [] }

    // MARK: Cache

    /// `@unchecked Sendable`: the connection is only compared.
    private struct Known: @unchecked Sendable {
        weak var db: Database?
        let schemaVersion: Int?
        let keys: ForeignKeyColumns
    }

    private static let known = Locked<[ObjectIdentifier: Known]>([:])

    /// Returns the foreign keys of a connection. They are read again after a change of the schema.
    static func of(_ db: Database) throws -> ForeignKeyColumns {
        let version = try StoreMonitor.schemaVersion(db)
        let id = ObjectIdentifier(db)
        if let known = known.withLock({ $0[id] }), known.db === db, known.schemaVersion == version { return known.keys }
        let keys = try ForeignKeyColumns(db)
        known.withLock { all in
            all = all.filter { $0.value.db != nil }
            all[id] = Known(db: db, schemaVersion: version, keys: keys)
        }
        return keys
    }
}
