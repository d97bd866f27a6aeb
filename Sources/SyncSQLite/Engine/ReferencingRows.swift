import GRDB
import SyncCore
import SyncStore

// Rows that are sent with a reference to a given row, in a to-one relationship or in a list.
extension SQLiteEngineStore {
    /// Unblocks the changes of rows that reference a row of a table, because that row is created again or known to be
    /// gone. The service may have rejected the changes because it did not have the row.
    func unblockRows(referencing key: DatabaseValue, of table: TrackedTable, in db: Database) throws {
        for other in tables {
            let rows = other.columns.filter { $0.destination == table.entity.table }.map { column in
                "SELECT \(other.keySQL) FROM \(other.sql) WHERE \(column.sql) = :key"
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
    func deletePendingReferences(to key: DatabaseValue, of table: TrackedTable, in db: Database) throws {
        let isPending = "target_entity IN (\(table.family)) AND target_key = ?"
        let owners = try db.rows(
            "SELECT owner_entity, owner_key, relationship FROM sync_pending WHERE \(isPending)", key)
        guard !owners.isEmpty else { return }
        try db.run("DELETE FROM sync_pending WHERE \(isPending)", key)
        for row in owners {
            guard let kind = try model.compiled.entityID(row.decode(atIndex: 0)) else { continue }
            let (owner, relationship): (DatabaseValue, String) = (row[1], try row.decode(atIndex: 2))
            for other in tables where other.entity.family.contains(kind) {
                for column in other.columns where column.relationship == relationship && column.isOptional {
                    try EngineLedger(db).clearUnedited(column, of: owner, other)
                }
                try EngineLedger(db).unblock(.row(other, owner))
            }
        }
    }
}

extension ConflictOutcome {
    /// The outcome for a foreign key that references a row that is not stored, or that is removed.
    static let danglingReference = ConflictOutcome(winner: .remote, reason: .danglingReference)
}

// Rows whose references were not maintained, because a connection with foreign keys off, such as the `sqlite3` shell,
// deleted rows. The resulting changes are local edits.
extension SQLiteEngineStore {
    /// Applies the delete rules. Resets edited foreign keys that reference a row that does not exist.
    func removeDanglingReferences(in db: Database) throws {
        while try deleteOrphans(in: db) {}
        try EngineLedger(db).deleteUnsent()
        for table in tables {
            for column in table.columns where column.isOptional { try unlink(column, of: table, in: db) }
        }
    }

    /// Applies the delete rules once, to rows that reference a deleted row. Only pending deletions and deletions of
    /// unsent rows can have left such rows. Returns whether rows were changed. Their deletion may have left other
    /// orphans.
    private func deleteOrphans(in db: Database) throws -> Bool {
        let numbers = try EngineLedger(db).entitiesWithDeletions()
        guard !numbers.isEmpty else { return false }
        var count = 0
        for table in tables where numbers.contains(table.number) {
            // A deleted row with a surrogate key is recorded by its name, which foreign keys do not contain.
            for (link, names) in references(to: table) {
                let isDeleted =
                    table.key.isSurrogate ? "" : "\(EngineLedger.isDeletedKey(names.mine, of: table)) AND "
                let orphans = "\(isDeleted)\(names.mine) NOT IN (SELECT \(table.keySQL) FROM \(table.sql))"
                let goes =
                    link.storage != .foreignKey || link.second.relationship?.deleteRule == .cascade || link.isKeyPart
                try db.run(
                    goes
                        ? "DELETE FROM \(names.table) WHERE \(orphans)"
                        : "UPDATE OR IGNORE \(names.table) SET \(names.mine) = NULL WHERE \(orphans)")
                count += db.changesCount
            }
        }
        return count > 0
    }

    /// Resets dangling foreign keys to their base value, or to NULL if the row with that key is not stored. Logs the
    /// dangling value.
    private func unlink(_ column: TrackedTable.Column, of table: TrackedTable, in db: Database) throws {
        guard let destination = column.destination.map({ stack.layout[$0] }) else { return }
        for (key, value) in try EngineLedger(db).danglingReferences(of: table, column, destination) {
            let base = try EngineLedger(db).storedBase(of: column, key, table, destination)
            try ConflictLog(db).add(
                table, key, field: column.name, base: base ?? .null, local: value, remote: .null, .danglingReference)
            try db.run("UPDATE \(table.sql) SET \(column.sql) = ? WHERE \(table.keySQL) = ?", base, key)
        }
    }
}
