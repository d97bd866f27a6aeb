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
        for name in names {
            try db.run("DELETE FROM \(name) WHERE e = ? AND k = ?", table.number, key)
        }
        for joinTable in table.joinTables { try deleteJoinEdits(of: key, joinTable) }
    }

    /// Deletes all entries of an entity, except its row in `sync_entity` and its join edits. ``deleteJoinEdits(of:)``
    /// deletes the join edits.
    func deleteEntries(of number: Int) throws {
        for name in EngineSchema.entityTables {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = ?", arguments: [number])
        }
        try deleteOrphanedSentValues()
    }

    /// Deletes all entries of an entity's rows at the service: requests, changes, base values and known rows.
    func deleteServiceEntries(of number: Int) throws {
        for name in EngineSchema.serviceTables {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = ?", arguments: [number])
        }
        try deleteOrphanedSentValues()
    }

    /// Deletes the cursor, listing, tombstones and quarantined records of an entity.
    func deletePullEntries(of number: Int) throws {
        for name in EngineSchema.pullTables {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = ?", arguments: [number])
        }
    }

    /// Deletes the entries of a row whose key does not fit a new model, except in the conflict log.
    func deleteUnmappedEntries(of key: DatabaseValue, _ number: Int) throws {
        for name in EngineSchema.rowTables where name != "sync_conflict" {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = ? AND k = ?", arguments: [number, key])
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
        for name in EngineSchema.rowTables {
            try db.execute(
                sql: "UPDATE OR REPLACE \(name) SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
                arguments: [new.value, number, old.value])
        }
        try db.execute(
            sql: "UPDATE sync_former_key SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
            arguments: [new.value, number, old.value])
    }

    /// Replaces the key of a row in all entries, also in base values and sent values of rows that reference it. Records
    /// the former key. `tables` has the tables whose rows may reference the row.
    func rekey(_ old: DatabaseValue, to new: DatabaseValue, _ table: TrackedTable, among tables: [TrackedTable]) throws
    {
        let e = table.number
        for name in EngineSchema.rowTables {
            // Log entries of a deletion belong to an earlier row with the same key.
            let isOf = name == "sync_conflict" ? " AND NOT \(ConflictLog.isDeletion)" : ""
            try db.run("UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?\(isOf)", new, e, old)
        }
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

    /// Replaces the surrogate key of a row in all its entries.
    func moveSurrogateKey(
        _ old: DatabaseValue, to new: DatabaseValue, _ table: TrackedTable, among tables: [TrackedTable]
    ) throws {
        for name in EngineSchema.surrogateKeyTables {
            try db.run("UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?", new, table.number, old)
        }
        for joinTable in table.joinTables { try rekeyJoinEdits(of: joinTable, .owner, from: old, to: new) }
        for joinTable in tables.flatMap(\.joinTables) where joinTable.destination == table.entity.table {
            try rekeyJoinEdits(of: joinTable, .other, from: old, to: new)
        }
    }
}
