import GRDB
import SyncCore
import SyncStore

// Entries that get another key, and entries that are deleted with their row or their entity.
extension EngineLedger {
    // MARK: Deleting entries

    /// Deletes the pending change, base values, attempted values and join edits of a row. `isKnown`: whether the row
    /// stays known. If false, its known version, unreadable values and former keys are deleted too.
    func deleteEntries(of key: DatabaseValue, _ table: TrackedTable, isKnown: Bool = false) throws {
        let names = EngineSchema.changeTables + (isKnown ? [] : EngineSchema.knownTables)
        try deleteEntries(in: names, of: table.number, key)
        for joinTable in table.joinTables { try deleteJoinEdits(of: key, joinTable) }
    }

    /// Deletes all entries of an entity, except its row in `sync_entity` and its join edits. ``deleteJoinEdits(of:)``
    /// deletes the join edits.
    func deleteEntries(of number: Int) throws {
        try deleteEntries(in: EngineSchema.entityTables, of: number)
        try deleteOrphanedSentValues()
    }

    /// Deletes all entries of an entity's rows at the service: requests, changes, base values and known rows.
    func deleteServiceEntries(of number: Int) throws {
        try deleteEntries(in: EngineSchema.serviceTables, of: number)
        try deleteOrphanedSentValues()
    }

    /// Deletes the cursor, listing, tombstones and quarantined records of an entity.
    func deletePullEntries(of number: Int) throws { try deleteEntries(in: EngineSchema.pullTables, of: number) }

    /// Deletes the entries of a row whose key does not fit a new model, except in the conflict log.
    func deleteUnmappedEntries(of key: DatabaseValue, _ number: Int) throws {
        try deleteEntries(in: EngineSchema.rowTables.filter { $0 != "sync_conflict" }, of: number, key)
    }

    private func deleteEntries(in names: [String], of number: Int, _ key: DatabaseValue? = nil) throws {
        for name in names {
            let ofEntity = "DELETE FROM \(name) WHERE e = ?"
            if let key { try db.run("\(ofEntity) AND k = ?", number, key) } else { try db.run(ofEntity, number) }
        }
    }

    // MARK: Replacing keys

    func keys(of number: Int) throws -> [DatabaseValue] {
        let selects = EngineSchema.rowTables.map { "SELECT k FROM \($0) WHERE e = \(number)" }
        return try DatabaseValue.fetchAll(db, sql: selects.joined(separator: " UNION "))
    }

    /// Replaces the key of a row in all its entries, when the store gets another model.
    func migrateKey(_ old: DatabaseValue, to new: DatabaseValue, _ number: Int) throws {
        let (old, new) = (ColumnValue.bound(old), ColumnValue.bound(new))
        for name in EngineSchema.rowTables + ["sync_former_key"] {
            try db.execute(
                sql: "UPDATE OR REPLACE \(name) SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
                arguments: [new.value, number, old.value])
        }
    }

    /// Replaces the key of a row in all entries, also in base values and sent values of rows that reference it. Records
    /// the former key. `tables` has the tables whose rows may reference the row.
    func rekey(_ old: DatabaseValue, to new: DatabaseValue, _ table: TrackedTable, among tables: [TrackedTable]) throws
    {
        let e = table.number
        // Log entries of a deletion belong to an earlier row with the same key.
        try moveEntries(in: EngineSchema.rowTables, from: old, to: new, e, " AND NOT \(ConflictLog.isDeletion)")
        for other in tables {
            for column in other.columns where column.destination == table.entity.table {
                try rekeyReferences(in: column, of: other, from: old, to: new)
            }
            for joinTable in other.joinTables {
                if other.entity.table == table.entity.table {
                    try rekeyJoinEdits(of: joinTable, .owner, from: old, to: new)
                }
                if joinTable.destination == table.entity.table {
                    try rekeyBaseOrders(of: joinTable, other, from: old, to: new)
                    try rekeyJoinEdits(of: joinTable, .other, from: old, to: new)
                }
            }
        }
        try db.run("UPDATE sync_former_key SET k = ? WHERE e = ? AND k = ?", new, e, old)
        try db.run(
            "INSERT INTO sync_former_key (e, old, k) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET k = excluded.k", e, old,
            new)
    }

    /// Corrects the entries after surrogate keys changed while changes were not captured. SQLite may have given the key
    /// of a deleted row to another row. `tables` has the tables whose rows may reference rows of the table.
    func repairSurrogateKeys(of table: TrackedTable, among tables: [TrackedTable]) throws {
        guard table.key.isSurrogate else { return }
        let moved = try movedSurrogateKeys(of: table)
        guard !moved.isEmpty else { return }
        for other in tables { try rekeyReferences(moved, to: table.entity.table, of: other) }
        // Move to unused keys first, since rows may have exchanged their keys.
        for (old, _) in moved { try moveSurrogateKey(old, to: "moved \(old)".databaseValue, table, among: tables) }
        for (old, new) in moved { try moveSurrogateKey("moved \(old)".databaseValue, to: new, table, among: tables) }
    }

    private func moveSurrogateKey(
        _ old: DatabaseValue, to new: DatabaseValue, _ table: TrackedTable, among tables: [TrackedTable]
    ) throws {
        try moveEntries(in: EngineSchema.surrogateKeyTables, from: old, to: new, table.number)
        for joinTable in table.joinTables { try rekeyJoinEdits(of: joinTable, .owner, from: old, to: new) }
        for joinTable in tables.flatMap(\.joinTables) where joinTable.destination == table.entity.table {
            try rekeyJoinEdits(of: joinTable, .other, from: old, to: new)
        }
    }

    /// Replaces the key of a row in tables. `ofLog` is the SQL condition of the entries of the conflict log.
    private func moveEntries(
        in names: [String], from old: DatabaseValue, to new: DatabaseValue, _ number: Int, _ ofLog: String = ""
    ) throws {
        for name in names {
            let condition = name == "sync_conflict" ? ofLog : ""
            try db.run("UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?\(condition)", new, number, old)
        }
    }
}
