import GRDB

// What the engine itself writes into the outbox of a row.
extension TrackedTable {
    /// Notes what both sides had of a domain that was edited. When it was edited stays as it is noted.
    ///
    /// - Parameters:
    ///   - base: Nil where nothing differs any more.
    ///   - edited: When, for one that is not noted yet.
    func setBase(
        _ base: DatabaseValue?, of domain: String, _ key: DatabaseValue, edited: Int64 = SQLiteEngineStore.now,
        in db: Database
    ) throws {
        guard let base else {
            return try db.executeCached(
                sql: "DELETE FROM sync_base WHERE e = ? AND k = ? AND domain = ?", arguments: [number, key, domain])
        }
        try db.executeCached(
            sql: """
                INSERT INTO sync_base (e, k, domain, value, edited) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value
                """, arguments: [number, key, domain, base, edited])
    }

    /// Has a row that the server knows be looked at when changes are sent.
    func touch(_ key: DatabaseValue, in db: Database) throws {
        try db.executeCached(
            sql: """
                INSERT INTO sync_change (e, k, kind, seq) VALUES (?, ?, 'update', (SELECT seq FROM sync_engine))
                ON CONFLICT DO NOTHING
                """, arguments: [number, key])
    }
}
