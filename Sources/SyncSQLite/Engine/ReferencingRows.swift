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
        (self.engine, self.table, self.db) = (engine, table, db)
    }

    /// Unblocks the changes of rows that reference a row, because that row is created again or known to be gone. The
    /// service may have rejected the changes because it did not have the row.
    func release(from key: DatabaseValue) throws {
        for other in engine.tables {
            let rows = other.columns.filter { $0.destination == table.entity.table }.map { column in
                """
                SELECT \(other.keySQL) FROM \(other.sql) WHERE \(column.sql) = :key
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
        let owners = try db.rows(
            "SELECT owner_entity, owner_key, relationship FROM sync_pending WHERE \(isPending)", key)
        guard !owners.isEmpty else { return }
        try db.run("DELETE FROM sync_pending WHERE \(isPending)", key)
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

/// Applies delete rules after a connection with foreign keys off, such as the `sqlite3` shell, deleted rows. The
/// resulting changes are local edits.
///
/// It also resets edited foreign keys that reference a row that does not exist.
struct OrphanedRows {
    static let resolution = ConflictOutcome(winner: .remote, reason: .danglingReference)

    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    func removeDanglingReferences() throws {
        while try deleteOrphansOnce() {}
        try EngineLedger(db).deleteUnsent()
        for table in engine.tables {
            for column in table.columns where column.isOptional { try unlink(column, of: table) }
        }
    }

    /// Applies the delete rules once, to rows that reference a deleted row. Only pending deletions and deletions of
    /// unsent rows can have left such rows. Returns whether rows were changed. Their deletion may have left other
    /// orphans.
    private func deleteOrphansOnce() throws -> Bool {
        let numbers = try EngineLedger(db).entitiesWithDeletions()
        guard !numbers.isEmpty else { return false }
        var count = 0
        for table in engine.tables where numbers.contains(table.number) {
            for (link, names) in engine.references(to: table) { count += try deleteOrphans(link, names, of: table) }
        }
        return count > 0
    }

    private func deleteOrphans(_ link: CompiledAssociation, _ names: LinkTable, of table: TrackedTable) throws -> Int {
        // A deleted row with a surrogate key is recorded by its name, which foreign keys do not contain.
        let deleted = table.key.isSurrogate ? "" : "\(EngineLedger.isDeletedKey(names.mine, of: table)) AND "
        let orphans =
            deleted + "\(names.mine) NOT IN (SELECT \(table.keySQL) FROM \(table.sql))"
        let goes =
            link.storage != .foreignKey || link.second.relationship?.deleteRule == .cascade || link.isKeyPart
        try db.run(
            goes
                ? "DELETE FROM \(names.table) WHERE \(orphans)"
                : "UPDATE OR IGNORE \(names.table) SET \(names.mine) = NULL WHERE \(orphans)")
        return db.changesCount
    }

    /// Resets dangling foreign keys to their base value, or to NULL if the row with that key is not stored. Logs the
    /// dangling value.
    private func unlink(_ column: TrackedTable.Column, of table: TrackedTable) throws {
        guard let destination = column.destination.map({ engine.stack.layout[$0] }) else { return }
        let (name, keyColumn, own) = (table.sql, table.keySQL, column.sql)
        for (key, value) in try EngineLedger(db).danglingReferences(of: table, column, destination) {
            let base = try EngineLedger(db).storedBase(of: column, key, table, destination)
            try ConflictLog(db).add(
                table, key, field: column.name, base: base ?? .null, local: value, remote: .null, Self.resolution)
            try db.run("UPDATE \(name) SET \(own) = ? WHERE \(keyColumn) = ?", base, key)
        }
    }
}
