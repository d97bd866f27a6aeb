import GRDB
import SyncCore
import SyncStore

/// Changes the key of a stored row. Foreign keys that reference the row are updated by `ON UPDATE CASCADE`, or by
/// statements in existing tables.
struct KeyUpdate {
    private let layout: StoreLayout
    private let row: RowKey
    private let entity: CompiledEntity
    private let db: Database

    init(_ layout: StoreLayout, _ row: RowKey, _ entity: CompiledEntity, _ db: Database) {
        self.layout = layout
        self.row = row
        self.entity = entity
        self.db = db
    }

    /// Changes the key of the row to a key that no row has. Returns the row key afterwards: the new key, or the
    /// unchanged surrogate key.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the key references a row that is not stored.
    @discardableResult
    func rekey(to key: RowKey) throws -> RowKey {
        let hierarchy = layout.model[entity.table]
        guard let columns = KeyColumns(entity, layout) else { return row }
        let isRowKey = hierarchy.keySlot != nil
        if isRowKey {
            try DanglingLinks(layout: layout, db: db).remove(linksTo: key.databaseValue, in: hierarchy.id)
        }
        let values = try columns.values(of: key, entity: entity.name, in: db)
        let bound = values.map(ColumnValue.bound)
        let set = zip(columns.columns, bound).map { "\($0.quoted) = \($1.sql)" }.joined(separator: ", ")
        try db.run(
            "UPDATE \(columns.table.name.quoted) SET \(set) WHERE \(columns.table.keyColumn.quoted) = ?",
            list: bound.map(\.value) + [row.databaseValue])
        guard isRowKey else { return row }
        if layout.hasExistingTables { try updateReferences(to: key.databaseValue, in: hierarchy) }
        try renameOwner(to: key.databaseValue, in: hierarchy)
        try notifyReferring(to: hierarchy)
        return key
    }

    private func updateReferences(to key: DatabaseValue, in hierarchy: EntityHierarchy) throws {
        for link in layout.model.links {
            for end in [CompiledAssociation.End.first, .second] where link.side(end).table == hierarchy.id {
                // The foreign key column at the first end references only rows at the second end.
                if link.storage == .foreignKey, end == .first { continue }
                let names = LinkTable(link, end, layout)
                try db.run(
                    "UPDATE \(names.table) SET \(names.mine) = ? WHERE \(names.mine) = ?", key, row.databaseValue)
            }
        }
    }

    /// Moves the pending references of the row to its new key.
    private func renameOwner(to key: DatabaseValue, in hierarchy: EntityHierarchy) throws {
        let names = hierarchy.entities.map { layout.model.entities[$0].name.literal }.joined(separator: ", ")
        try db.run(
            "UPDATE sync_pending SET owner_key = ? WHERE owner_entity IN (\(names)) AND owner_key = ?", key,
            row.databaseValue)
    }

    /// Notifies observers of the tables whose foreign keys follow the new key.
    private func notifyReferring(to hierarchy: EntityHierarchy) throws {
        var region = DatabaseRegion()
        for link in layout.model.links
        where link.first.table == hierarchy.id || link.second.table == hierarchy.id {
            switch layout[link.id] {
            case .foreignKey(let table, _, _) where link.second.table == hierarchy.id:
                region = region.union(try Table(table).databaseRegion(db))
            case .foreignKey: break
            case .joinTable(let table, _, _, _, _): region = region.union(try Table(table).databaseRegion(db))
            }
        }
        if !region.isEmpty { try db.notifyChanges(in: region) }
    }
}

extension DataStack {
    /// Throws `duplicateKey` if a row has the key and its entity has the same ``CompiledEntity/keyOwner``.
    func checkIsFree(_ key: RowKey, of entity: CompiledEntity, in db: Database) throws {
        guard let columns = KeyColumns(entity, layout), let values = columns.bound(key) else { return }
        let condition = columns.condition(of: columns.table.name, equals: values.map(\.sql))
        let sql = "SELECT 1 FROM \(columns.table.name.quoted) WHERE \(condition)"
        guard try Row.fetchOne(db, sql: sql, arguments: StatementArguments(values.map(\.value))) != nil else { return }
        throw model.compiled.duplicateKey(of: entity)
    }
}
