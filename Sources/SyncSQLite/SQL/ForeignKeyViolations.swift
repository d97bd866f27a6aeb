import GRDB
import SyncCore
import SyncStore

/// The dangling links of a store, and dangling foreign keys of other tables to rows of the store. Other violations in
/// tables of the app are ignored.
struct ForeignKeyViolations {
    private static let shownCount = 5

    /// The names of the first few rows with a violation that no deletion explains.
    private var locations: [String] = []
    /// The foreign keys of tables that are not in the model, whose rows reference rows that a sync deleted.
    private(set) var denied: [OutsideReferences] = []

    /// - Parameters:
    ///   - isStrictlyOwn: Whether foreign keys of other tables to rows of the store are ignored.
    ///   - deleted: The keys of the rows that a sync deleted, by table.
    init(
        _ db: Database, _ layout: StoreLayout, ofOwnTables isStrictlyOwn: Bool = false,
        deleted: [TableID: Set<RowKey>] = [:]
    ) throws {
        let own = layout.foldedTableNames
        let outside = deleted.isEmpty ? [:] : try ForeignKeyList.of(db).outside(layout)
        let rows = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
        while let row = try rows.next() {
            let (table, id) = (row["table"] as String? ?? "?", row["fkid"] as Int?)
            let target = (row["parent"] as String? ?? "").foldedForSQL
            let leadsHere = own.contains(target)
            guard own.contains(table.foldedForSQL) || leadsHere && !isStrictlyOwn else { continue }
            let key = outside.lazy.flatMap { table, keys in keys.map { (table, $0) } }
                .first { $0.1.table == table && $0.1.id == id }
            if let (parent, key) = key,
                let reference = try Self.reference(row["rowid"], key, to: parent, deleted[parent] ?? [], db, layout)
            {
                denied.add(reference)
            } else if locations.count < Self.shownCount {
                locations.append(try Self.name(of: row["rowid"], in: table, db, layout) ?? "\(table)")
            }
        }
    }

    /// Returns the reference of a row to a deleted row; nil if the row references another row.
    private static func reference(
        _ rowID: Int64?, _ key: ForeignKey, to parent: TableID, _ deleted: Set<RowKey>, _ db: Database,
        _ layout: StoreLayout
    ) throws -> OutsideReferences? {
        guard !deleted.isEmpty else { return nil }
        var reference = OutsideReferences(
            table: key.table, columns: key.columnNames, effect: .denied, target: parent,
            row: rowID.map { "\(key.table) row \($0)" } ?? "a row of \(key.table)")
        let isKey =
            key.columns.count == 1
            && key.columns[0].referenced.foldedForSQL == layout[parent].keyColumn.foldedForSQL
        guard isKey, let rowID else { return reference }
        let sql = "SELECT \(key.columns[0].own.quoted) FROM \(key.table.quoted) WHERE rowid = ?"
        guard let value = try db.value(sql, rowID), let target = RowKey(value), deleted.contains(target) else {
            return nil
        }
        reference.targetKey = target
        return reference
    }

    /// Returns the name of a row in errors: its entity and key, or its table and rowid if the table has no entity.
    /// Returns nil if the row has no rowid.
    private static func name(
        of rowID: Int64?, in table: String, _ db: Database, _ layout: StoreLayout
    ) throws -> String? {
        guard let rowID else { return nil }
        let hierarchy = layout.model.hierarchies.first { layout[$0.id].name.foldedForSQL == table.foldedForSQL }
        guard let hierarchy else { return "\(table) row \(rowID)" }
        let select = RecordSQL(layout.model.entities[hierarchy.root], layout)
        let sql = "SELECT \(select.columns) FROM \(select.from) WHERE \(select.column("rowid")) = ?"
        let record = try select.fetch(db, sql, [rowID]).first
        return record.map { "\($0.entity) \($0.key)" } ?? "\(table) row \(rowID)"
    }

    /// - Throws: ``SyncError`` `databaseError` if there are violations that no deletion explains.
    func refuse() throws {
        guard !locations.isEmpty else { return }
        throw SyncError(
            .databaseError, "the transaction would leave dangling links: \(locations.joined(separator: ", "))",
            underlyingError: DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY))
    }
}
