import GRDB
import SyncCore
import SyncStore

/// The conflict log: the values that lost, and the open conflicts.
struct ConflictLog {
    /// The reason of edits that were lost because the service deleted the row, or a row whose deletion cascaded to it.
    static let deleted = SyncConflict.Reason.deletedRemotely.rawValue
    /// The reason in place of ``deleted`` if the service lacks the row, or hides it from the user, without a tombstone.
    static let missing = SyncConflict.Reason.missingRemotely.rawValue
    /// The reason of a row without edits that a cascade deleted. The service does not cascade deletions, so it still
    /// has the row.
    static let cascaded = SyncConflict.Reason.cascaded.rawValue
    /// The reason of a preexisting row without edits that the engine deleted.
    static let preexisting = SyncConflict.Reason.preexistingMissing.rawValue
    /// The reason of a row that the engine deleted, and that may have been edited while the triggers were missing.
    static let audited = SyncConflict.Reason.deletedWhileUncaptured.rawValue
    /// The SQL list of the reasons for which deleted rows are logged.
    static let deletionReasons = [deleted, missing, cascaded, preexisting, audited].map(\.literal).joined(
        separator: ", ")

    private let db: Database

    init(_ db: Database) { self.db = db }

    func add(
        _ table: TrackedTable, _ key: DatabaseValue, field: String, base: DatabaseValue, local: DatabaseValue,
        remote: DatabaseValue, _ resolution: ConflictOutcome
    ) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_conflict (at, e, k, domain, base, local, remote, winner, why, open)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                SQLiteEngineStore.now, table.number, key, field, base, local, remote, resolution.winner.rawValue,
                resolution.reason,
                resolution.winner == .open ? 1 : 0,
            ])
    }

    /// Changes the reason of the log entries after `entry` from ``deleted`` to ``missing``.
    func recordMissing(since entry: Int) throws {
        try db.executeCached(
            sql: "UPDATE sync_conflict SET why = ? WHERE id > ? AND why = ?",
            arguments: [Self.missing, entry, Self.deleted])
    }

    /// Deletes the log entries of a row after `line` with the reason ``cascaded``, because the service itself no longer
    /// has the row.
    func recordDeleted(_ key: DatabaseValue, _ table: TrackedTable, since line: Int) throws {
        try db.executeCached(
            sql: "DELETE FROM sync_conflict WHERE id > ? AND e = ? AND k = ? AND why = ?",
            arguments: [line, table.number, key, Self.cascaded])
    }

    /// Returns the logged values of the row with this key that was deleted last. Several deleted rows may have had the
    /// key.
    func lastDeletion(
        _ key: DatabaseValue?, _ table: TrackedTable
    ) throws -> [(id: Int64, field: String, value: DatabaseValue)] {
        let lines = try Row.fetchAll(
            db,
            sql:
                "SELECT id, domain, local FROM sync_conflict WHERE e = ? AND k = ? AND why IN (\(Self.deletionReasons)) ORDER BY id DESC",
            arguments: [table.number, key]
        ).map {
            (
                id: try $0.decode(Int64.self, atIndex: 0), field: try $0.decode(String.self, atIndex: 1),
                value: $0[2] as DatabaseValue
            )
        }
        var seen: Set<String> = []
        return Array(lines.prefix { seen.insert($0.field).inserted })
    }

    func setRestored(_ lines: [Int64]) throws {
        for line in lines {
            try db.executeCached(
                sql: "UPDATE sync_conflict SET why = why || ', restored' WHERE id = ?", arguments: [line])
        }
    }

    /// Returns the number of rows and values that were logged after the entry `line`, by entity. Entries with the
    /// reason ``cascaded`` are not counted.
    func counts(since line: Int, _ tables: [TrackedTable]) throws -> AppliedChanges {
        var outcome = AppliedChanges()
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT e, count(DISTINCT k), count(*) FROM sync_conflict WHERE id > ? AND why <> ? GROUP BY e"),
            arguments: [line, Self.cascaded])
        for row in rows {
            guard let table = try tables.first(where: { try $0.number == row.decode(atIndex: 0) }) else { continue }
            outcome[table.entity.name].conflicts = try row.decode(atIndex: 1)
            outcome[table.entity.name].conflictingValues = try row.decode(atIndex: 2)
        }
        return outcome
    }

    /// Closes open conflicts that need no decision, because the row is deleted or has the service's value. Updates the
    /// local value of other open conflicts.
    func closeResolved(_ tables: [TrackedTable]) throws {
        let open = try db.rowsCached(sql: "SELECT id, e, k, domain, remote FROM sync_conflict WHERE open = 1")
        for row in open {
            guard let table = try tables.first(where: { try $0.number == row.decode(atIndex: 1) }) else { continue }
            let key: DatabaseValue = row[2]
            guard let values = try table.fieldReader.values(of: key, in: db) else {
                let isDeletedHere = try EngineLedger(db).change(of: key, table)?.kind == .delete
                try close(
                    row.decode(atIndex: 0), isDeletedHere ? .local : .remote,
                    "the row was deleted \(isDeletedHere ? "locally" : "by the service")")
                continue
            }
            guard let here = try value(of: row.decode(atIndex: 3), table, key, values) else { continue }
            guard here.isExactly(row[4]) else {
                try show(here, in: row.decode(atIndex: 0))
                continue
            }
            try close(row.decode(atIndex: 0), .remote, "the row was edited to the service's value")
            try EngineLedger(db).endConflict(key, table)
        }
    }

    /// Returns the current value of a field; nil if the row is not stored, or has no such field.
    func value(of field: String, _ table: TrackedTable, _ key: DatabaseValue) throws -> DatabaseValue? {
        try table.fieldReader.values(of: key, in: db).flatMap { try value(of: field, table, key, $0) }
    }

    private func value(
        of field: String, _ table: TrackedTable, _ key: DatabaseValue, _ values: [String: DatabaseValue]
    ) throws -> DatabaseValue? {
        guard let joinTable = table.joinTables.first(where: { $0.field == field }) else { return values[field] }
        return LinkedRowList.text(try LinkedRowList(joinTable).others(of: key, in: db))
    }

    /// Updates the local value of an open conflict after a later edit.
    func show(_ here: DatabaseValue, in id: DatabaseValue) throws {
        try db.executeCached(
            sql: "UPDATE sync_conflict SET local = ? WHERE id = ? AND local IS NOT ?", arguments: [here, id, here])
    }

    /// Closes all open conflicts of a row.
    func closeAll(_ key: DatabaseValue, _ table: TrackedTable, _ resolution: ConflictOutcome) throws {
        try db.executeCached(
            sql: "UPDATE sync_conflict SET open = 0, winner = ?, why = ? WHERE e = ? AND k = ? AND open = 1",
            arguments: [resolution.winner.rawValue, resolution.reason, table.number, key])
    }

    func close(_ id: DatabaseValue, _ winner: ConflictOutcome.Winner, _ reason: String) throws {
        try db.execute(
            sql: "UPDATE sync_conflict SET open = 0, winner = ?, why = ? WHERE id = ?",
            arguments: [winner.rawValue, reason, id])
    }

    /// Closes the open conflicts of an entity, because its state at the service is reset.
    func closeAll(of table: TrackedTable) throws {
        try db.execute(
            sql: "UPDATE sync_conflict SET open = 0, winner = 'local', why = 'reset' WHERE e = ? AND open = 1",
            arguments: [table.number])
    }

    /// Updates both values of the open conflict of a field.
    ///
    /// - Returns: Whether the field has an open conflict.
    func update(
        _ field: String, _ key: DatabaseValue, _ table: TrackedTable, local: DatabaseValue, remote: DatabaseValue
    ) throws -> Bool {
        try db.executeCached(
            sql: "UPDATE sync_conflict SET local = ?, remote = ? WHERE e = ? AND k = ? AND domain = ? AND open = 1",
            arguments: [local, remote, table.number, key, field])
        return db.changesCount > 0
    }

    /// Closes the open conflict of a field if the service has the base value again, or the local value.
    func closeReverted(
        _ field: String, _ key: DatabaseValue, _ table: TrackedTable, local: DatabaseValue, remote: DatabaseValue
    ) throws {
        try db.executeCached(
            sql: """
                UPDATE sync_conflict SET open = 0, winner = 'local', why = 'the service returned to this value'
                WHERE e = ? AND k = ? AND domain = ? AND open = 1 AND (base IS ? OR ? IS ?)
                """, arguments: [table.number, key, field, remote, local, remote])
    }

    // MARK: Reading

    /// Returns the ID of the last entry; 0 if the log is empty.
    func lastEntry() throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM sync_conflict")) ?? 0
    }

    /// Returns whether a deletion logged edited rows of entities after the entry `line`.
    func hasEdits(of tables: [TrackedTable], since line: Int) throws -> Bool {
        let numbers = tables.map { "\($0.number)" }.joined(separator: ", ")
        return try db.finds(
            sql: "SELECT 1 FROM sync_conflict WHERE id > ? AND e IN (\(numbers)) AND why NOT IN (?, ?, ?)",
            arguments: [line, Self.cascaded, Self.preexisting, Self.audited])
    }

    /// Sets the local value of a field in the entries of a row after the entry `line`.
    func setLocal(
        _ value: DatabaseValue, of field: String, _ keys: [DatabaseValue], _ table: TrackedTable, since line: Int
    )
        throws
    {
        for key in keys {
            try db.executeCached(
                sql: "UPDATE sync_conflict SET local = ? WHERE id > ? AND e = ? AND k = ? AND domain = ?",
                arguments: [value, line, table.number, key, field])
        }
    }

    /// Returns the open conflicts of a row: the ID, the field and the remote value.
    ///
    /// - Parameter field: The field; nil for all fields.
    func open(
        of key: DatabaseValue, _ table: TrackedTable, _ field: String?
    ) throws -> [(id: DatabaseValue, field: String, remote: DatabaseValue)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT id, domain, remote FROM sync_conflict WHERE e = ? AND k = ? AND open = 1 AND (? IS NULL OR domain = ?)
                """, arguments: [table.number, key, field, field]
        ).map { ($0[0], try $0.decode(atIndex: 1), $0[2]) }
    }

    /// Returns the winner of the last conflict of a row or of a field; nil if there was none.
    func lastWinner(of key: DatabaseValue, _ table: TrackedTable, _ field: String?) throws -> String? {
        try String.fetchOne(
            db,
            sql: """
                SELECT winner FROM sync_conflict WHERE e = ? AND k = ? AND (? IS NULL OR domain = ?) ORDER BY id DESC LIMIT 1
                """, arguments: [table.number, key, field, field])
    }

    /// Returns the number of rows and of fields with open conflicts.
    func openCounts(of table: TrackedTable) throws -> (rows: Int, fields: Int) {
        let row = try Row.fetchOne(
            db, sql: "SELECT count(DISTINCT k), count(*) FROM sync_conflict WHERE e = ? AND open = 1",
            arguments: [table.number])
        return (try row?.decode(atIndex: 0) ?? 0, try row?.decode(atIndex: 1) ?? 0)
    }

    /// Returns all entries, open conflicts first: entity, key, field, base, local, remote, winner, reason and time.
    func all() throws -> [Row] {
        try Row.fetchAll(
            db,
            sql: "SELECT e, k, domain, base, local, remote, winner, why, at FROM sync_conflict ORDER BY open DESC, id")
    }
}
