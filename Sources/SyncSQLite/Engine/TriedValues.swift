import GRDB
import SyncCore
import SyncStore

/// Values of a row that were sent in requests without an answer, or answered with another version of the row.
///
/// The service may have stored them nevertheless. Both sides then agree on them, and they are no change of another
/// device.
struct TriedValues {
    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

    /// Returns the sent values by field.
    func all(of key: DatabaseValue) throws -> [String: [DatabaseValue]] {
        let rows = try db.rowsCached(
            sql: """
                SELECT domain, value FROM sync_tried WHERE e = ? AND k = ?
                UNION ALL SELECT s.domain, s.value FROM sync_request AS r JOIN sync_sent AS s ON s.request = r.id
                WHERE r.e = ? AND r.k = ?
                """, arguments: [table.number, key, table.number, key])
        return try rows.reduce(into: [:]) { values, row in
            values[try row.decode(atIndex: 0), default: []].append(try row.wholeValue(at: 1))
        }
    }

    func delete(_ key: DatabaseValue) throws {
        try db.executeCached(sql: "DELETE FROM sync_tried WHERE e = ? AND k = ?", arguments: [table.number, key])
    }

    /// Keeps the values of a request that is about to be deleted.
    static func insert(_ request: Int64, in db: Database) throws {
        try db.executeCached(
            sql: """
                INSERT INTO sync_tried (e, k, domain, value)
                SELECT r.e, r.k, s.domain, s.value FROM sync_request AS r JOIN sync_sent AS s ON s.request = r.id WHERE r.id = ?
                """, arguments: [request])
    }

    /// Deletes the values of rows without a pending change.
    static func deleteAcknowledged(in db: Database) throws {
        try db.executeCached(
            sql: """
                DELETE FROM sync_tried WHERE NOT EXISTS (
                  SELECT 1 FROM sync_change AS c WHERE c.e = sync_tried.e AND c.k = sync_tried.k)
                """)
    }
}

extension SQLiteEngineStore {
    /// Returns the keys of a list that was sent. Temporary keys that were replaced since are returned as their current
    /// keys.
    func sentKeys(_ value: DatabaseValue, _ joinTable: TrackedTable.JoinTable, in db: Database) throws
        -> [DatabaseValue]
    {
        let numbers = tables.filter { $0.entity.table == joinTable.destination }.map { "\($0.number)" }
            .joined(separator: ", ")
        return try LinkedRowList.keys(value).map { key in
            try KeyAliases.later(than: key, ofEntities: numbers, in: db) ?? key
        }
    }
}
