import Foundation
import GRDB
import SyncCore
import SyncStore

/// A foreign key of a table.
struct ForeignKey: Sendable {
    /// What SQLite does with the rows of the table when a referenced row is deleted.
    enum DeleteAction: String {
        case none = "NO ACTION"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case cascade = "CASCADE"
    }

    let table: String
    /// The number of the foreign key in its table.
    let id: Int
    let target: String
    let deleteAction: DeleteAction
    /// The columns of the table, each with the column that it references.
    fileprivate(set) var columns: [(own: String, referenced: String)] = []

    var columnNames: String { columns.map(\.own).joined(separator: ", ") }
}

/// A column of a table.
struct QualifiedColumn: Hashable {
    let table: String
    let name: String

    /// The column with its names as SQLite compares them.
    var folded: QualifiedColumn { QualifiedColumn(table: table.foldedForSQL, name: name.foldedForSQL) }
}

/// The foreign keys of all tables of a database, except those of Sync's internal tables.
struct ForeignKeyList: Sendable {
    let keys: [ForeignKey]
    /// The columns of foreign keys, by the columns that they reference.
    private var sources: [QualifiedColumn: [QualifiedColumn]] = [:]

    private init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, "from", "table", "to", seq, id, on_delete
                FROM main.sqlite_schema, pragma_foreign_key_list(name, 'main')
                WHERE type = 'table' AND name NOT GLOB 'sync_*' ORDER BY name, id, seq
                """)
        var keys: [ForeignKey] = []
        for row in rows {
            let (table, column, target, seq): (String, String, String, Int) = (row[0], row[1], row[2], row[4])
            let (id, named): (Int, String?) = (row[5], row[3])
            if keys.last?.table != table || keys.last?.id != id {
                let action = ForeignKey.DeleteAction(rawValue: row[6]) ?? .none
                keys.append(ForeignKey(table: table, id: id, target: target, deleteAction: action))
            }
            guard let key = try named ?? Self.primaryKey(of: target, in: db).dropFirst(seq).first else { continue }
            keys[keys.count - 1].columns.append((column, key))
            sources[QualifiedColumn(table: target, name: key).folded, default: []].append(
                QualifiedColumn(table: table, name: column))
        }
        self.keys = keys
    }

    /// Returns the columns that a foreign key without columns references.
    private static func primaryKey(of table: String, in db: Database) throws -> [String] {
        try db.tableExists(table, in: "main") ? db.primaryKey(table, in: "main").columns : []
    }

    /// Returns the columns that reference a column, given with folded names.
    func columns(referencing column: QualifiedColumn) -> [QualifiedColumn] { sources[column] ?? [] }

    /// Returns the foreign keys of tables that are not in the model to tables of the model, by table.
    func outside(_ layout: StoreLayout) -> [TableID: [ForeignKey]] {
        let own = layout.foldedTableNames
        let outside = keys.filter { !own.contains($0.table.foldedForSQL) && !$0.columns.isEmpty }
        guard !outside.isEmpty else { return [:] }
        let tables = Dictionary(layout.model.hierarchies.map { (layout[$0.id].name.foldedForSQL, $0.id) }) { first, _ in
            first
        }
        return outside.reduce(into: [:]) { found, key in
            if let table = tables[key.target.foldedForSQL] { found[table, default: []].append(key) }
        }
    }

    // MARK: Cache

    /// `@unchecked Sendable`: the connection is only compared.
    private struct Known: @unchecked Sendable {
        weak var db: Database?
        let schemaVersion: Int?
        let keys: ForeignKeyList
    }

    private static let known = Locked<[ObjectIdentifier: Known]>([:])

    /// Returns the foreign keys of a connection. They are read again after a change of the schema.
    static func of(_ db: Database) throws -> ForeignKeyList {
        let version = try StoreMonitor.schemaVersion(db)
        let id = ObjectIdentifier(db)
        if let known = known.withLock({ $0[id] }), known.db === db, known.schemaVersion == version { return known.keys }
        let keys = try ForeignKeyList(db)
        known.withLock { all in
            all = all.filter { $0.value.db != nil }
            all[id] = Known(db: db, schemaVersion: version, keys: keys)
        }
        return keys
    }
}

extension StoreLayout {
    /// The names of the tables and join tables, as SQLite compares them.
    var foldedTableNames: Set<String> { Set((tables.map(\.name) + joinTables).map(\.foldedForSQL)) }
}
