import GRDB
import SyncCore
import SyncStore

/// The values of a row that requests sent and that the service did not confirm.
///
/// The outcome of such a request is unknown, or the service had another version of the row. The service may have stored
/// the values anyway. Then their presence at the service is not a change by another device.
struct AttemptedValues {
    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

    /// Returns the unconfirmed values of a row, by field.
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

    /// Stores the values of a request in `sync_tried`. Call this method before the request is deleted.
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
    /// Returns the keys in a list that was sent. If a key was replaced since, the result has the current key.
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
