import GRDB
import SyncCore
import SyncStore

/// The log of what lost, or waits for a decision.
struct ConflictLog {
    private let db: Database

    init(_ db: Database) { self.db = db }

    func add(
        _ table: EngineTable, _ key: DatabaseValue, domain: String, base: DatabaseValue, local: DatabaseValue,
        remote: DatabaseValue, _ ruling: ConflictRuling
    ) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_conflict (at, e, k, domain, base, local, remote, winner, why, open)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                SQLiteEngine.now, table.number, key, domain, base, local, remote, ruling.winner.rawValue, ruling.why,
                ruling.winner == .open ? 1 : 0,
            ])
    }
}
