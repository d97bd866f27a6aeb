import GRDB
import SyncStore

// Rows that are missing in the store without a captured deletion. The keys of the entries must be correct: see
// `SurrogateKeyRepair`.
extension TrackedTable {
    /// Records missing rows as deleted. If the entity was only imported, deletes their entries instead.
    func auditMissing(in db: Database) throws {
        if try isWatched(in: db) { try recordMissing(in: db) } else { try deleteMissing(in: db) }
    }

    /// Records a local deletion for each known row that is not stored.
    func recordMissing(in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO sync_change (e, k, kind, seq)
                SELECT e, k, 'delete', 0 FROM sync_known AS n WHERE e = \(number) AND \(isMissing("n"))
                ON CONFLICT DO UPDATE SET kind = 'delete', state = 'ready'
                """)
    }

    /// Deletes the entries of rows that are not stored and not recorded as deleted, except in the conflict log.
    ///
    /// The deletion of these rows is not sent. The next pull gets all rows, and inserts the rows that the service has.
    ///
    /// - Returns: Whether there were such rows.
    @discardableResult
    func deleteMissing(in db: Database) throws -> Bool {
        let keys = """
            SELECT k FROM (SELECT k FROM sync_known WHERE e = \(number) UNION SELECT k FROM sync_change WHERE e = \(number)) AS n
            WHERE \(isMissing("n")) AND NOT EXISTS (
              SELECT 1 FROM sync_change AS c WHERE c.e = \(number) AND c.k = n.k AND c.kind = 'delete')
            """
        guard try db.finds(sql: keys, arguments: []) else { return false }
        let isGone = "e = \(number) AND k IN (\(keys))"
        try db.execute(
            sql: "DELETE FROM sync_sent WHERE request IN (SELECT id FROM sync_request WHERE \(isGone))")
        for joinTable in joinTables {
            try db.execute(
                sql: "DELETE FROM sync_link WHERE link = ? AND owner IN (\(keys))", arguments: [joinTable.name])
        }
        // The conflict log stays. `sync_known` and `sync_change` come last, because the statements read the keys from
        // them.
        let last = ["sync_known", "sync_change"]
        let names = EngineSchema.rowTables.filter { $0 != "sync_conflict" && !last.contains($0) }
        for name in names + ["sync_alias"] + last { try db.execute(sql: "DELETE FROM \(name) WHERE \(isGone)") }
        try pullAll(in: db)
        return true
    }

    /// Returns the number of stored rows of the entity.
    func count(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.name.quoted) AS r WHERE true\(isOwn("r"))") ?? 0
    }

    /// Makes the next pull of the entity get all rows.
    func pullAll(in db: Database) throws {
        try db.execute(sql: "UPDATE sync_cursor SET cursor = NULL, next = NULL WHERE e = ?", arguments: [number])
    }

    /// Returns whether the entity has triggers. An entity that was only imported has none.
    func isWatched(in db: Database) throws -> Bool {
        try db.finds(sql: "SELECT 1 FROM sync_entity WHERE e = ? AND triggers <> ''", arguments: [number])
    }

    private func isMissing(_ row: String) -> String {
        """
        NOT EXISTS (
          SELECT 1 FROM \(table.name.quoted) AS r WHERE r.\(table.keyColumn.quoted) = +\(row).k\(isOwn("r")))
        """
    }
}
