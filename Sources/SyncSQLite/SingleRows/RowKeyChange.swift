import GRDB
import SyncCore
import SyncStore

/// Gives a stored row another key. What refers to it follows, by the foreign keys' `ON UPDATE CASCADE`.
struct RowKeyChange {
    private let stack: DataStack
    private let row: Record
    private let db: Database

    init(_ stack: DataStack, _ row: Record, _ db: Database) {
        self.stack = stack
        self.row = row
        self.db = db
    }

    /// - Returns: The row's key in its table afterwards.
    /// - Throws: ``SyncError`` `keyTaken`.
    @discardableResult
    func rekey(to key: StoredValue) throws -> DatabaseValue {
        let tree = stack.model.compiled[row.type.table]
        let table = stack.layout[row.type.table]
        guard let slot = row.type.keySlot else { return row.rowKey }
        let stored = ColumnValue.databaseValue(key, as: tree.attributes[slot].type)
        try stack.refuseTaken(stored, of: row.type, in: db)
        if tree.keySlot == slot {
            try DanglingLinks(layout: stack.layout, db: db).remove(linksTo: stored, in: tree.id)
        }
        let bound = ColumnValue.bound(stored)
        try db.execute(
            sql: """
                UPDATE \(table.name.quoted) SET \(table.columns[slot].quoted) = \(bound.sql)
                WHERE \(table.keyColumn.quoted) = ?
                """,
            arguments: [bound.value, row.rowKey])
        guard tree.keySlot == slot else { return row.rowKey }
        try renameOwner(to: stored, in: tree)
        try notifyReferring(to: tree)
        return stored
    }

    /// The references the row waits for are remembered under its key.
    private func renameOwner(to key: DatabaseValue, in tree: EntityTree) throws {
        let names = tree.entities.map { stack.model.compiled.entities[$0].name.literal }.joined(separator: ", ")
        try db.execute(
            sql: "UPDATE sync_pending SET owner_key = ? WHERE owner_entity IN (\(names)) AND owner_key = ?",
            arguments: [key, row.rowKey])
    }

    /// Observers do not see what a foreign key changes by itself.
    private func notifyReferring(to tree: EntityTree) throws {
        var region = DatabaseRegion()
        for link in stack.model.compiled.links where link.first.table == tree.id || link.second.table == tree.id {
            switch stack.layout[link.id] {
            case .foreignKey(let table, _, _) where link.second.table == tree.id:
                region = region.union(try Table(table).databaseRegion(db))
            case .foreignKey: break
            case .joinTable(let table, _, _, _, _): region = region.union(try Table(table).databaseRegion(db))
            }
        }
        if !region.isEmpty { try db.notifyChanges(in: region) }
    }
}

extension DataStack {
    /// A key is taken by any row that shares its keys with the entity.
    func refuseTaken(_ key: DatabaseValue, of entity: CompiledEntity, in db: Database) throws {
        let table = layout[entity.table]
        guard let slot = entity.keySlot, let owner = entity.keyOwner else { return }
        let bound = ColumnValue.bound(key)
        let among = SchemaSQL.sharedKeyCondition(owner, layout).map { " AND \($0)" } ?? ""
        let condition = "\(table.columns[slot].quoted) = \(bound.sql)\(among)"
        let sql = "SELECT 1 FROM \(table.name.quoted) WHERE \(condition)"
        guard try Row.fetchOne(db, sql: sql, arguments: [bound.value]) != nil else { return }
        throw SyncError(
            .keyTaken, "there is a row with this key already", entity: entity.name, path: table.columns[slot])
    }
}
