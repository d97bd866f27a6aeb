import GRDB
import SyncCore
import SyncStore

/// The rows that are sent with a reference to a given row, in a to-one relationship or in a list.
struct ReferencingRows {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database

    /// - Parameter table: The table of the referenced row.
    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        self.engine = engine
        self.table = table
        self.db = db
    }

    /// Unblocks the changes of rows that reference a row, because that row is created again or known to be gone. The
    /// service may have rejected the changes because it did not have the row.
    func release(from key: DatabaseValue) throws {
        for other in engine.tables {
            let rows = other.columns.filter { $0.destination == table.entity.table }.map { column in
                """
                SELECT \(other.table.keyColumn.quoted) FROM \(other.table.name.quoted) WHERE \(column.name.quoted) = :key
                """
            }
            let owners = other.joinTables.filter { $0.destination == table.entity.table }.map { joinTable in
                "SELECT \(joinTable.table.mine) FROM \(joinTable.table.table) WHERE \(joinTable.table.other) = :key"
            }
            guard !rows.isEmpty || !owners.isEmpty else { continue }
            try EngineLedger(db).unblock(.rows(other, keys: (rows + owners).joined(separator: " UNION ALL "), key))
        }
    }

    /// Deletes the pending references to a row that the service deleted. Sets optional foreign keys to NULL, unless
    /// they were edited locally, and unblocks the changes of the rows with these references.
    func deletePendingReferences(_ key: DatabaseValue) throws {
        let isPending = "target_entity IN (\(table.family)) AND target_key = ?"
        let owners = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT owner_entity, owner_key, relationship FROM sync_pending WHERE \(isPending)"),
            arguments: [key])
        guard !owners.isEmpty else { return }
        try db.executeCached(sql: "DELETE FROM sync_pending WHERE \(isPending)", arguments: [key])
        for row in owners {
            guard let kind = try engine.model.compiled.entityID(row.decode(atIndex: 0)) else { continue }
            let owner: DatabaseValue = row[1]
            let relationship = try row.decode(String.self, atIndex: 2)
            for other in engine.tables where other.entity.family.contains(kind) {
                for column in other.columns where column.relationship == relationship && column.isOptional {
                    try EngineLedger(db).clearUnedited(column, of: owner, other)
                }
                try EngineLedger(db).unblock(.row(other, owner))
            }
        }
    }
}
