import GRDB
import SyncCore
import SyncStore

/// The conflict log: the values that lost, and the open conflicts.
struct ConflictLog {
    /// The SQL list of the reasons for which deleted rows are logged.
    static let deletionReasons = [
        SyncConflict.Reason.deletedRemotely, .missingRemotely, .cascaded, .preexistingMissing, .deletedWhileUncaptured,
    ].map(\.code.literal).joined(separator: ", ")
    /// The SQL condition that an entry is of a deleted row that was not restored.
    static let isDeletion = "(reason IN (\(deletionReasons)) AND NOT is_restored)"

    private static let isOpen = "winner = 'open'"

    private let db: Database

    init(_ db: Database) { self.db = db }

    func add(
        _ table: TrackedTable, _ key: DatabaseValue, field: String, base: DatabaseValue, local: DatabaseValue,
        remote: DatabaseValue, _ resolution: ConflictOutcome
    ) throws {
        try db.run(
            """
            INSERT INTO sync_conflict (at, e, k, field, base, local, remote, winner, reason, note)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, db.now(), table.number, key, field, base, local, remote, resolution.winner.rawValue,
            resolution.reason.code, resolution.note)
    }

    /// Logs an edit that is lost because its field is not in the new model.
    func addRemovedField(
        _ field: String, _ key: DatabaseValue, _ number: Int, base: DatabaseValue, local: DatabaseValue
    ) throws {
        try db.run(
            """
            INSERT INTO sync_conflict (at, e, k, field, base, local, winner, reason) VALUES (?, ?, ?, ?, ?, ?, 'remote', ?)
            """, db.now(), number, key, field, base, local, SyncConflict.Reason.fieldRemoved.code)
    }

    /// Changes the reason of the log entries after `entry` from `deletedRemotely` to `missingRemotely`.
    func recordMissing(since entry: Int) throws {
        try db.run(
            "UPDATE sync_conflict SET reason = ? WHERE id > ? AND reason = ?", SyncConflict.Reason.missingRemotely.code,
            entry, SyncConflict.Reason.deletedRemotely.code)
    }

    /// Deletes the log entries of a row after `line` with the reason `cascaded`, because the service itself no longer
    /// has the row.
    func recordDeleted(_ key: DatabaseValue, _ table: TrackedTable, since line: Int) throws {
        try db.run(
            "DELETE FROM sync_conflict WHERE id > ? AND e = ? AND k = ? AND reason = ?", line, table.number, key,
            SyncConflict.Reason.cascaded.code)
    }

    /// Returns the logged values of the row with this key that was deleted last. Several deleted rows may have had the
    /// key.
    func lastDeletion(
        _ key: DatabaseValue?, _ table: TrackedTable
    ) throws -> [(id: Int64, field: String, value: DatabaseValue)] {
        let lines: [(id: Int64, field: String, value: DatabaseValue)] = try db.rows(
            "SELECT id, field, local FROM sync_conflict WHERE e = ? AND k = ? AND \(Self.isDeletion) ORDER BY id DESC",
            table.number, key
        ).map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1), $0[2]) }
        var seen: Set<String> = []
        return Array(lines.prefix { seen.insert($0.field).inserted })
    }

    func setRestored(_ lines: [Int64]) throws {
        for line in lines { try db.run("UPDATE sync_conflict SET is_restored = 1 WHERE id = ?", line) }
    }

    /// Returns the number of rows and values that were logged after the entry `line`, by entity. Entries with the
    /// reason `cascaded` are not counted.
    func counts(since line: Int, _ tables: [TrackedTable]) throws -> SyncReport {
        var outcome = SyncReport()
        let rows = try db.rows(
            "SELECT e, count(DISTINCT k), count(*) FROM sync_conflict WHERE id > ? AND reason <> ? GROUP BY e", line,
            SyncConflict.Reason.cascaded.code)
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
        let open = try db.rows("SELECT id, e, k, field, remote FROM sync_conflict WHERE winner = 'open'")
        for row in open {
            guard let table = try tables.first(where: { try $0.number == row.decode(atIndex: 1) }) else { continue }
            let key: DatabaseValue = row[2]
            guard let values = try table.fieldReader.values(of: key, in: db) else {
                let isDeletedHere = try EngineLedger(db).change(of: key, table)?.kind == .delete
                try close(
                    row.decode(atIndex: 0), isDeletedHere ? .local : .remote,
                    isDeletedHere ? .rowDeletedLocally : .rowDeletedRemotely)
                continue
            }
            guard let here = try value(of: row.decode(atIndex: 3), table, key, values) else { continue }
            guard here.isExactly(row[4]) else {
                try show(here, in: row.decode(atIndex: 0))
                continue
            }
            try close(row.decode(atIndex: 0), .remote, .editedToRemote)
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
        try db.run("UPDATE sync_conflict SET local = ? WHERE id = ? AND local IS NOT ?", here, id, here)
    }

    func closeAll(_ key: DatabaseValue, _ table: TrackedTable, _ resolution: ConflictOutcome) throws {
        try close("e = ? AND k = ? AND \(Self.isOpen)", table.number, key, as: resolution)
    }

    func close(_ id: DatabaseValue, _ winner: ConflictOutcome.Winner, _ reason: SyncConflict.Reason) throws {
        try close("id = ?", id, as: ConflictOutcome(winner: winner, reason: reason))
    }

    /// Closes an open conflict whose field is not in the new model.
    func closeRemovedField(_ id: DatabaseValue) throws {
        try close("id = ? AND \(Self.isOpen)", id, as: ConflictOutcome(winner: .remote, reason: .fieldRemoved))
    }

    /// Closes the open conflicts of an entity, because its state at the service is reset.
    func closeAll(of table: TrackedTable) throws {
        try close("e = ? AND \(Self.isOpen)", table.number, as: ConflictOutcome(winner: .local, reason: .reset))
    }

    private func close(
        _ condition: String, _ values: (any DatabaseValueConvertible)?..., as outcome: ConflictOutcome
    ) throws {
        let assigned: [(any DatabaseValueConvertible)?] = [outcome.winner.rawValue, outcome.reason.code, outcome.note]
        try db.run(
            "UPDATE sync_conflict SET winner = ?, reason = ?, note = ? WHERE \(condition)",
            list: (assigned + values).map { $0?.databaseValue ?? .null })
    }

    /// Updates both values of the open conflict of a field. Returns whether the field has an open conflict.
    func update(
        _ field: String, _ key: DatabaseValue, _ table: TrackedTable, local: DatabaseValue, remote: DatabaseValue
    ) throws -> Bool {
        try db.run(
            "UPDATE sync_conflict SET local = ?, remote = ? WHERE e = ? AND k = ? AND field = ? AND winner = 'open'",
            local, remote, table.number, key, field)
        return db.changesCount > 0
    }

    /// Closes the open conflict of a field if the service has the base value again, or the local value.
    func closeReverted(
        _ field: String, _ key: DatabaseValue, _ table: TrackedTable, local: DatabaseValue, remote: DatabaseValue
    ) throws {
        try close(
            "e = ? AND k = ? AND field = ? AND \(Self.isOpen) AND (base IS ? OR ? IS ?)", table.number, key, field,
            remote, local, remote, as: ConflictOutcome(winner: .local, reason: .remoteReverted))
    }

    // MARK: Reading

    func lastEntry() throws -> Int { try db.first(Int.self, "SELECT max(id) FROM sync_conflict") ?? 0 }

    /// Returns whether a field of a row has entries after the entry `line`.
    func has(_ field: String, _ key: DatabaseValue, _ table: TrackedTable, since line: Int) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM sync_conflict WHERE e = \(table.number) AND k = ? AND field = ? AND id > ?", key, field, line
        )
    }

    /// Returns whether a deletion logged edited rows of entities after the entry `line`.
    func hasEdits(of tables: [TrackedTable], since line: Int) throws -> Bool {
        let numbers = tables.map { "\($0.number)" }.joined(separator: ", ")
        return try db.finds(
            "SELECT 1 FROM sync_conflict WHERE id > ? AND e IN (\(numbers)) AND reason NOT IN (?, ?, ?)", line,
            SyncConflict.Reason.cascaded.code, SyncConflict.Reason.preexistingMissing.code,
            SyncConflict.Reason.deletedWhileUncaptured.code)
    }

    /// Sets the local value of a field in the entries of a row after the entry `line`.
    func setLocal(
        _ value: DatabaseValue, of field: String, _ keys: [DatabaseValue], _ table: TrackedTable, since line: Int
    ) throws {
        for key in keys {
            try db.run(
                "UPDATE sync_conflict SET local = ? WHERE id > ? AND e = ? AND k = ? AND field = ?", value, line,
                table.number, key, field)
        }
    }

    struct OpenConflict {
        let id: DatabaseValue
        let field: String
        let base: DatabaseValue
        let remote: DatabaseValue

        /// Returns whether the service has the base value again. A conflict with another row that the service linked to
        /// the same row has the base value as remote value from the start.
        func isReverted(to there: DatabaseValue) -> Bool { base.isExactly(there) && !remote.isExactly(there) }
    }

    /// Returns the open conflicts of a row. `field`: nil for all fields.
    func open(of key: DatabaseValue, _ table: TrackedTable, _ field: String?) throws -> [OpenConflict] {
        try db.rows(
            """
            SELECT id, field, base, remote FROM sync_conflict
            WHERE e = ? AND k = ? AND winner = 'open' AND (? IS NULL OR field = ?)
            """, table.number, key, field, field
        ).map { OpenConflict(id: $0[0], field: try $0.decode(atIndex: 1), base: $0[2], remote: $0[3]) }
    }

    /// Returns the winner of the last conflict of a row or of a field; nil if there was none.
    func lastWinner(of key: DatabaseValue, _ table: TrackedTable, _ field: String?) throws -> String? {
        try db.first(
            String.self,
            """
            SELECT winner FROM sync_conflict WHERE e = ? AND k = ? AND (? IS NULL OR field = ?) ORDER BY id DESC LIMIT 1
            """, table.number, key, field, field)
    }

    /// Returns the number of rows and of fields with open conflicts.
    func openCounts(of table: TrackedTable) throws -> (rows: Int, fields: Int) {
        let row = try db.row(
            "SELECT count(DISTINCT k), count(*) FROM sync_conflict WHERE e = ? AND winner = 'open'", table.number)
        return (try row?.decode(atIndex: 0) ?? 0, try row?.decode(atIndex: 1) ?? 0)
    }

    /// Returns all entries, open conflicts first: entity, key, field, base, local, remote, winner, reason, restoration,
    /// time and note.
    func all() throws -> [ResultRow] {
        try db.rows(
            """
            SELECT e, k, field, base, local, remote, winner, reason, is_restored, at, note FROM sync_conflict
            ORDER BY winner = 'open' DESC, id
            """)
    }
}

// The values that edited columns had when their row was deleted locally. They are stored like base values.
extension ConflictLog {
    struct DeletedEdit {
        let key: DatabaseValue
        let field: String
        let base: DatabaseValue
        let value: DatabaseValue
    }

    /// Returns the edits that a row had when it was deleted.
    func deletedEdits(of key: DatabaseValue, _ table: TrackedTable) throws -> [DeletedEdit] {
        let bases = try EngineLedger(db).bases(of: key, table)
        return table.columns.compactMap { column in
            guard let base = bases[column.name], let held = base.held else { return nil }
            return DeletedEdit(key: key, field: column.name, base: base.value, value: held)
        }
    }

    /// Logs edits as lost, except edits whose value the restored row has. Returns the number of lost edits.
    func add(_ edits: [DeletedEdit], _ table: TrackedTable, _ resolution: ConflictOutcome) throws -> Int {
        var lost = 0
        for edit in edits {
            let there = try table.fieldReader.values(of: edit.key, in: db)?[edit.field] ?? .null
            guard !there.isExactly(edit.value) else { continue }
            try add(table, edit.key, field: edit.field, base: edit.base, local: edit.value, remote: there, resolution)
            lost += 1
        }
        return lost
    }
}

extension ConflictOutcome {
    /// The outcome for a foreign key that references a row that is not stored, or that is removed.
    static let danglingReference = ConflictOutcome(winner: .remote, reason: .danglingReference)
    /// The outcome for values that may have been edited while changes were not captured, at another version than the
    /// known one.
    static let missedEdits = ConflictOutcome(winner: .remote, reason: .editedWhileUncaptured)
}
