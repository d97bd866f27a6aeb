import GRDB
import SyncCore
import SyncStore

// Rows that one side deleted.
extension PageMerge {
    /// A row that was deleted here, and that the server changed meanwhile.
    ///
    /// - Returns: Whether it comes back.
    mutating func stays(_ row: PulledPage.Row, _ standing: RowStanding) throws -> Bool {
        let isChanged = standing.version != nil && standing.version != row.version
        let wentAlong = try isCascade(standing.key)
        let comesBack = isChanged && (wentAlong || table.registration.deletions == .editWins)
        if isChanged {
            let why = wentAlong ? "nobody deleted it by itself" : comesBack ? "editWins" : "deleteWins"
            let ruling = ConflictRuling(winner: comesBack ? .remote : .local, why: why)
            try log(
                standing.key, domain: "", local: .null, remote: (row.record ?? .null).text.databaseValue, ruling)
            if comesBack { lost.append((try LastHeld(table, db).edits(of: standing.key), ruling)) }
        }
        if comesBack {
            try forget(standing.key)
        } else {
            // One that is not known was made by a request of which nobody heard.
            if !standing.isKnown { try engine.answerOpen(standing.key, table, in: db) }
            try noteDeletedHere(row, standing)
        }
        return comesBack
    }

    /// The deletion is to be sent, also of a row that was not known to be there: it was sent, and its answer lost.
    private func noteDeletedHere(_ row: PulledPage.Row, _ standing: RowStanding) throws {
        try db.executeCached(
            sql: """
                INSERT INTO sync_known (e, k, version, time, whole, seq, remote)
                VALUES (?, ?, ?, ?, 0, (SELECT seq FROM sync_engine), ?)
                ON CONFLICT DO UPDATE SET version = excluded.version, time = excluded.time
                """,
            arguments: [
                table.number, standing.key, row.version, row.time,
                try table.spelling(of: row.id, standing.key, in: db),
            ])
        try db.executeCached(
            sql: "UPDATE sync_change SET birth = NULL WHERE e = ? AND k = ?", arguments: [table.number, standing.key])
    }

    /// Whether the row was deleted because another one was, which the server had deleted.
    private func isCascade(_ key: DatabaseValue) throws -> Bool {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT reason FROM sync_change WHERE e = ? AND k = ?"),
            arguments: [table.number, key]) == "cascade"
    }

    /// A row that was edited here, and that the server deleted.
    mutating func deletedThere(_ row: PulledPage.Row, _ standing: RowStanding) throws {
        guard table.registration.deletions == .editWins else { return try delete(row, standing) }
        try bringBack(row, standing, "editWins: \(isMissing ? ConflictLog.missing : ConflictLog.deleted)")
    }

    /// The row is made anew on the server, with all values.
    private mutating func bringBack(_ row: PulledPage.Row, _ standing: RowStanding, _ why: String) throws {
        // Made of the old id: two devices that bring a row back make one.
        try db.executeCached(
            sql: """
                INSERT INTO sync_change (e, k, kind, birth, seq) VALUES (?, ?, 'create', ?, (SELECT seq FROM sync_engine))
                ON CONFLICT DO UPDATE SET kind = 'create', birth = excluded.birth, state = 'ready'
                """,
            arguments: [table.number, standing.key, BirthID(reviving: row.id.text, of: table.entity.name).text])
        try db.executeCached(
            sql: "DELETE FROM sync_base WHERE e = ? AND k = ?", arguments: [table.number, standing.key])
        try db.executeCached(
            sql: "DELETE FROM sync_known WHERE e = ? AND k = ?", arguments: [table.number, standing.key])
        try ReferringRows(engine, table, db).release(from: standing.key)
        try engine.answerOpen(standing.key, table, in: db)
        try log(standing.key, domain: "", local: .null, remote: .null, .init(winner: .local, why: why))
    }

    /// Deletes a row by the delete rules of the model. Triggers log what was edited of it, and of what goes along.
    mutating func delete(_ row: PulledPage.Row, _ standing: RowStanding) throws {
        let key = standing.key
        guard let rowKey = RowKey(key), try table.isStored(key, in: db) else { return try forget(key) }
        let before = try lastConflict()
        // Where keys are hidden, the log knows a row that is gone by its name.
        let name = try DatabaseValue.fetchOne(
            db, sql: "SELECT coalesce(name, k) FROM sync_known WHERE e = ? AND k = ?", arguments: [table.number, key])
        // What was refused may have been because of this row.
        try ReferringRows(engine, table, db).release(from: key)
        var result = SyncResult(entity: table.entity.name)
        var keepsEdits = false
        try db.inSavepoint {
            result = try deleteByRules(rowKey)
            keepsEdits = try tookEditsAlong(since: before)
            return keepsEdits ? .rollback : .commit
        }
        if keepsEdits { return try bringBack(row, standing, "editWins: a row that belongs to it was edited") }
        if let name { try ConflictLog(db).noteDeleted(name, table, since: before) }
        if isMissing { try ConflictLog(db).noteMissing(since: before) }
        try forget(key)
        outcome.add(try ConflictLog(db).counts(since: before, engine.tables))
        for (entity, changes) in result.entities { outcome[entity].deleted += changes.deletedCount }
    }

    private func deleteByRules(_ key: RowKey) throws -> SyncResult {
        if table.registration.sendsCascades || engine.tables.contains(where: \.registration.sendsCascades) {
            try db.executeCached(sql: "INSERT INTO sync_mute VALUES (2) ON CONFLICT DO NOTHING")
        }
        let result = try engine.stack.session(db, nil, SyncRequest())
            .delete(StoredRow(table: table.entity.table, key: key), of: table.entity)
        try db.executeCached(sql: "DELETE FROM sync_mute WHERE n = 2")
        return result
    }

    /// Whether a deletion took rows along that are to stay because they were edited.
    private func tookEditsAlong(since conflict: Int) throws -> Bool {
        let numbers = engine.tables.filter { $0.registration.deletions == .editWins }
            .map { "\($0.number)" }.joined(separator: ", ")
        return try db.finds(
            sql: "SELECT 1 FROM sync_conflict WHERE id > ? AND e IN (\(numbers)) AND why NOT IN (?, ?)",
            arguments: [conflict, ConflictLog.wentAlong, ConflictLog.presumed])
    }

    private func lastConflict() throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM sync_conflict")) ?? 0
    }

    /// Forgets all that is known of a row.
    func forget(_ key: DatabaseValue) throws {
        try engine.answerOpen(key, table, in: db)
        try engine.forget(key, table, in: db)
    }
}
