import GRDB

/// When a row that the server does not know was made here, and its columns set since. Nothing is agreed on of it, so that no base
/// says when it was edited.
struct MadeTimes {
    /// What stands for the whole row in `sync_made`.
    private static let row = ""

    private let times: [String: Int64]

    init(of key: DatabaseValue, _ table: EngineTable, _ db: Database) throws {
        let rows = try db.rowsCached(
            sql: "SELECT domain, edited FROM sync_made WHERE e = ? AND k = ?", arguments: [table.number, key])
        times = Dictionary(rows.map { ($0[0] as String, $0[1] as Int64) }) { first, _ in first }
    }

    /// When a column was edited: 0 for one that holds nothing and was never set, and where no time is known.
    func edited(_ column: String, holding value: DatabaseValue) -> Int64 {
        if let time = times[column] { return time }
        return value.isNull ? 0 : times[Self.row] ?? 0
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
