import GRDB
import SyncCore
import SyncStore

/// Replaces the key of a row, also in references to the row and in the engine's tables.
///
/// The new key is the key that the row has, or will have, at the service. If the old key belongs to another row there,
/// the new key is a temporary key.
struct KeyReplacement {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        self.engine = engine
        self.table = table
        self.db = db
    }

    /// Adds changes to the outbox for the known rows with a foreign key to a row whose remote ID was replaced.
    ///
    /// At the service, these rows still reference the former ID, which may belong to another row.
    func notifyReferencing(to new: DatabaseValue, formerly old: DatabaseValue) throws {
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table {
                let key = "r.\(other.table.keyColumn.quoted)"
                let rows = """
                    FROM \(other.table.name.quoted) AS r WHERE r.\(column.name.quoted) = ?\(other.isOwn("r"))
                      AND EXISTS (SELECT 1 FROM sync_known WHERE e = \(other.number) AND k = +\(key))
                    """
                try db.execute(
                    sql: """
                        INSERT INTO sync_base (e, k, domain, value, edited) SELECT \(other.number), \(key), ?, ?, ? \(rows)
                        ON CONFLICT DO NOTHING
                        """, arguments: [column.name, old, SQLiteEngineStore.now, new])
                try db.execute(
                    sql: """
                        INSERT INTO sync_change (e, k, kind, seq)
                        SELECT \(other.number), \(key), 'update', (SELECT seq FROM sync_engine) \(rows) ON CONFLICT DO NOTHING
                        """, arguments: [new])
            }
        }
    }

    /// Returns whether a row of another entity in the same table has the key. A service may assign the same ID to rows
    /// of different entities.
    func isOfAnotherEntity(_ k: DatabaseValue) throws -> Bool {
        guard table.isPart, try !table.isStored(k, in: db) else { return false }
        return try db.finds(
            sql: "SELECT 1 FROM \(table.table.name.quoted) WHERE \(table.table.keyColumn.quoted) = ?", arguments: [k])
    }

    /// Gives rows the keys that the service assigned, if rows of other entities had these keys before and no longer
    /// have them.
    func assignFreedKeys() throws {
        guard table.isPart, !table.key.isSurrogate else { return }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT r.\(table.table.keyColumn.quoted), n.remote FROM \(table.table.name.quoted) AS r
                JOIN sync_known AS n ON n.e = \(table.number) AND n.k = +r.\(table.table.keyColumn.quoted)
                WHERE n.remote IS NOT NULL AND \(table.key.isLocal)\(table.isOwn("r"))
                """)
        for row in rows {
            guard let id = table.key.rowKey(try EngineTableCheck.json(row.decode(atIndex: 1))),
                let new = try table.key.k(of: id, in: db), try !isOfAnotherEntity(new),
                try !table.isStored(new, in: db)
            else { continue }
            try engine.muted(in: db) { _ = try rekey(row[0], to: id) }
        }
    }

    /// Gives a row a temporary key, because another row has its key at the service.
    func giveLocalKey(to k: DatabaseValue) throws {
        guard let key = try RowKey(engine.stack.makeTemporaryKey(for: table.entity, in: db)) else { return }
        try engine.insertNew(rekey(k, to: key), table, in: db)
    }

    /// Replaces the key of a row.
    ///
    /// - Returns: The key of the row in the engine's tables afterwards.
    @discardableResult
    func rekey(_ old: DatabaseValue, to key: RowKey) throws -> DatabaseValue {
        if let row = try stored(old) {
            try KeyUpdate(engine.stack, row, db).rekey(to: key)
            try db.executeCached(
                sql: "UPDATE sync_known SET name = NULL WHERE e = ? AND k = ?", arguments: [table.number, old])
            try table.key.insertName(old, table.number, in: db)
        }
        // The engine's tables may have entries of a row that was deleted locally in the meantime.
        guard let new = try table.key.k(of: key, in: db), !new.isExactly(old) else { return old }
        try rekey(old, new)
        try addArrival(of: key)
        return new
    }

    /// Records the arrival of a row if pending references refer to its new key.
    private func addArrival(of key: RowKey) throws {
        let names = engine.stack.layout.entityNames(of: [table.entity.table])
        let isPending = try db.finds(
            sql: "SELECT 1 FROM sync_pending WHERE target_entity IN (\(names)) AND target_key = ?",
            arguments: [key.databaseValue])
        if isPending { engine.stack.watch.recordArrival(in: db) }
    }

    private func stored(_ k: DatabaseValue) throws -> SyncRow? {
        guard try table.isStored(k, in: db), let key = try table.key.recordKey(k, in: db)
        else { return nil }
        return try engine.stack.fetch(table.entity, key: RowKey(key, table.key.type), in: db)
    }

    /// Unites a row that was created locally with a pulled row that is the same row at the service. The pulled row is
    /// deleted. The local row gets the key of the pulled row and the references to the pulled row. Edited columns of
    /// the pulled row are logged.
    ///
    /// - Returns: The key of the row in the engine's tables afterwards.
    func unite(_ old: DatabaseValue, with new: DatabaseValue) throws -> DatabaseValue {
        guard !old.isExactly(new), let key = try table.key.recordKey(new, in: db) else { return old }
        try logEdits(of: new)
        for (_, names) in engine.references(to: table) {
            try db.executeCached(
                sql: "UPDATE OR IGNORE \(names.table) SET \(names.mine) = ? WHERE \(names.mine) = ?",
                arguments: [old, new])
        }
        for joinTable in engine.tables.flatMap(\.joinTables) where joinTable.destination == table.entity.table {
            try db.executeCached(
                sql: "UPDATE OR REPLACE sync_link SET other = ? WHERE link = ? AND other = ?",
                arguments: [old, joinTable.name, new])
        }
        // Record the pulled row as deleted, so that the trigger does not log it.
        try db.executeCached(
            sql: "UPDATE sync_change SET kind = 'delete' WHERE e = ? AND k = ?", arguments: [table.number, new])
        try db.executeCached(
            sql: "DELETE FROM \(table.table.name.quoted) WHERE \(table.table.keyColumn.quoted) = ?", arguments: [new])
        try engine.deleteState(new, table, in: db)
        // A deleted row with a surrogate key has its entries under its name.
        if let name = try table.key.k(of: RowKey(key, table.key.type), in: db) {
            try engine.deleteState(name, table, in: db)
        }
        return try rekey(old, to: RowKey(key, table.key.type))
    }

    private func logEdits(of key: DatabaseValue) throws {
        guard let values = try table.fieldReader.values(of: key, in: db) else { return }
        let bases = try Row.fetchAll(
            db, sql: "SELECT domain, value FROM sync_base WHERE e = ? AND k = ?", arguments: [table.number, key])
        for row in bases {
            let (field, base) = (try row.decode(String.self, atIndex: 0), row[1] as DatabaseValue)
            guard let value = values[field], !value.isExactly(base) else { continue }
            try ConflictLog(db).add(
                table, key, field: field, base: base, local: value, remote: base,
                ConflictOutcome(winner: .local, reason: SyncConflict.Reason.duplicateRow.rawValue))
        }
    }

    /// Replaces a key in the engine's tables.
    private func rekey(_ old: DatabaseValue, _ new: DatabaseValue) throws {
        let e = table.number
        for name in EngineSchema.rowTables {
            // Log entries of a deletion belong to an earlier row with the same key.
            let isOf = name == "sync_conflict" ? " AND why NOT IN (\(ConflictLog.deletionReasons))" : ""
            try db.executeCached(
                sql: "UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?\(isOf)", arguments: [new, e, old])
        }
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table {
                try db.executeCached(
                    sql: """
                        UPDATE sync_base INDEXED BY sync_base_value SET value = :new
                        WHERE e = :e AND domain = :domain AND \(EngineSchema.isBase("sync_base", ":old"))
                        """, arguments: ["new": new, "e": other.number, "domain": column.name, "old": old])
                try db.executeCached(
                    sql: """
                        UPDATE sync_sent SET value = ? WHERE domain = ? AND value = ?
                          AND request IN (SELECT id FROM sync_request WHERE e = ?)
                        """, arguments: [new, column.name, old, other.number])
                try db.executeCached(
                    sql: "UPDATE sync_tried SET value = ? WHERE e = ? AND domain = ? AND value = ?",
                    arguments: [new, other.number, column.name, old])
            }
            for joinTable in other.joinTables {
                if other.entity.table == table.entity.table {
                    try db.executeCached(
                        sql: "UPDATE OR REPLACE sync_link SET owner = ? WHERE link = ? AND owner = ?",
                        arguments: [new, joinTable.name, old])
                }
                if joinTable.destination == table.entity.table {
                    try BaseListOrder(other, joinTable, db).rekey(old, new)
                    try db.executeCached(
                        sql: "UPDATE OR REPLACE sync_link SET other = ? WHERE link = ? AND other = ?",
                        arguments: [new, joinTable.name, old])
                }
            }
        }
        try db.executeCached(sql: "UPDATE sync_alias SET k = ? WHERE e = ? AND k = ?", arguments: [new, e, old])
        try db.executeCached(
            sql: "INSERT INTO sync_alias (e, old, k) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET k = excluded.k",
            arguments: [e, old, new])
    }
}
