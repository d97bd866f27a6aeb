import GRDB

/// When a row that the service does not know was created here, and when its columns were set since. Such a row has no
/// base values, which have the times of other rows.
struct MadeTimes {
    /// The field name of the whole row in `sync_made`.
    private static let row = ""

    /// The time of a row that is created again. Its edited columns have a base value, or were set since.
    private static let restored: Int64 = -1

    private let times: [String: Int64]

    /// Whether the service deleted the row, and it is to be created again.
    var isRestored: Bool { times[Self.row] == Self.restored }

    /// Returns whether a column was set after the row was created, or was marked to be created again.
    func isSet(_ column: String) -> Bool { times[column] != nil }

    init(of key: DatabaseValue, _ table: TrackedTable, _ db: Database) throws {
        let rows = try db.rowsCached(
            sql: "SELECT domain, edited FROM sync_made WHERE e = ? AND k = ?", arguments: [table.number, key])
        times = Dictionary(try rows.map { try ($0.decode(String.self, atIndex: 0), $0.decode(Int64.self, atIndex: 1)) })
        { first, _ in first }
    }

    /// Returns when a column was edited: 0 if no time is known, or if the column is NULL and was never set.
    func editTime(of column: String, holding value: DatabaseValue) -> Int64 {
        if let time = times[column] { return time }
        return value.isNull ? 0 : max(times[Self.row] ?? 0, 0)
    }

    /// Returns the SQL condition that a row is to be created again.
    ///
    /// - Parameter isRow: The condition that a row of `sync_made` belongs to the row.
    static func isRestored(_ isRow: String) -> String {
        "EXISTS (SELECT 1 FROM \"sync_made\" WHERE \(isRow) AND \"domain\" = '' AND \"edited\" = \(restored))"
    }

    /// Marks a row to be created again.
    static func recordRestored(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        try db.executeCached(
            sql: "DELETE FROM sync_made WHERE e = ? AND k = ?", arguments: [table.number, key])
        try db.executeCached(
            sql: "INSERT INTO sync_made (e, k, domain, edited) VALUES (?, ?, ?, ?)",
            arguments: [table.number, key, row, restored])
    }

    /// Deletes the times of rows that the service knows.
    static func deleteAcknowledged(in db: Database) throws {
        try db.executeCached(
            sql: """
                DELETE FROM sync_made WHERE NOT EXISTS (
                  SELECT 1 FROM sync_change AS c WHERE c.e = sync_made.e AND c.k = sync_made.k AND c.birth IS NOT NULL)
                """)
    }
}
