import GRDB

/// When a row that the server does not know was made here, and its columns set since. Nothing is agreed on of it, so that no base
/// says when it was edited.
struct MadeTimes {
    /// What stands for the whole row in `sync_made`.
    private static let row = ""

    /// The time of a row that was brought back: of its columns those were edited that have a base, or were set since.
    private static let revived: Int64 = -1

    private let times: [String: Int64]

    /// Whether the row was known, and is to be made anew because the server deleted it.
    var isRevived: Bool { times[Self.row] == Self.revived }

    /// Whether a column was set since the row was made, or brought back.
    func isSet(_ column: String) -> Bool { times[column] != nil }

    init(of key: DatabaseValue, _ table: TrackedTable, _ db: Database) throws {
        let rows = try db.rowsCached(
            sql: "SELECT domain, edited FROM sync_made WHERE e = ? AND k = ?", arguments: [table.number, key])
        times = Dictionary(try rows.map { try ($0.decode(String.self, atIndex: 0), $0.decode(Int64.self, atIndex: 1)) })
        { first, _ in first }
    }

    /// When a column was edited: 0 for one that holds nothing and was never set, and where no time is known.
    func edited(_ column: String, holding value: DatabaseValue) -> Int64 {
        if let time = times[column] { return time }
        return value.isNull ? 0 : max(times[Self.row] ?? 0, 0)
    }

    /// The same of a row in a trigger, as SQL.
    ///
    /// - Parameter isRow: The condition that a line is of the row.
    static func isRevived(_ isRow: String) -> String {
        "EXISTS (SELECT 1 FROM \"sync_made\" WHERE \(isRow) AND \"domain\" = '' AND \"edited\" = \(revived))"
    }

    /// A row is to be made anew.
    static func recordRestored(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        try db.executeCached(
            sql: "DELETE FROM sync_made WHERE e = ? AND k = ?", arguments: [table.number, key])
        try db.executeCached(
            sql: "INSERT INTO sync_made (e, k, domain, edited) VALUES (?, ?, ?, ?)",
            arguments: [table.number, key, row, revived])
    }

    /// Forgets those of rows that the server knows.
    static func forgetSettled(in db: Database) throws {
        try db.executeCached(
            sql: """
                DELETE FROM sync_made WHERE NOT EXISTS (
                  SELECT 1 FROM sync_change AS c WHERE c.e = sync_made.e AND c.k = sync_made.k AND c.birth IS NOT NULL)
                """)
    }
}
