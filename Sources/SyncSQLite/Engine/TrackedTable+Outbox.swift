import GRDB

// Entries that the engine itself writes for a row.
extension TrackedTable {
    /// Stores the base value of an edited field. The edit time of an existing entry stays.
    ///
    /// - Parameters:
    ///   - base: The base value; nil to delete it, because the field does not differ any more.
    ///   - editTime: The edit time of a new entry, in milliseconds since 1970.
    func setBase(
        _ base: DatabaseValue?, of field: String, _ key: DatabaseValue, editTime: Int64 = SQLiteEngineStore.now,
        in db: Database
    ) throws {
        guard let base else {
            return try db.executeCached(
                sql: "DELETE FROM sync_base WHERE e = ? AND k = ? AND domain = ?", arguments: [number, key, field])
        }
        try db.executeCached(
            sql: """
                INSERT INTO sync_base (e, k, domain, value, edited) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value
                """, arguments: [number, key, field, base, editTime])
    }

    /// Adds an update of a known row to the outbox, unless the row already has a pending change. The push determines
    /// which fields differ.
    func touch(_ key: DatabaseValue, in db: Database) throws {
        try db.executeCached(
            sql: """
                INSERT INTO sync_change (e, k, kind, seq) VALUES (?, ?, 'update', (SELECT seq FROM sync_engine))
                ON CONFLICT DO NOTHING
                """, arguments: [number, key])
    }
}
