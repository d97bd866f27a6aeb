import GRDB
import GRDBSQLite

/// Has foreign keys hold for what a sync leads to, and not for each of its steps, whose order is its own. Those of our
/// tables say so themselves.
enum DeferredForeignKeys {
    static func during<Result>(_ db: Database, _ isAdopted: Bool, _ body: () throws -> Result) throws -> Result {
        guard isAdopted, try Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") != true else { return try body() }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        // To switch it off forgets links that lead nowhere: as long as there are some, it stays until the transaction
        // ends.
        defer { if !areBroken(db) { try? db.execute(sql: "PRAGMA defer_foreign_keys = OFF") } }
        return try body()
    }

    /// Whether something is written that leads nowhere yet, by whomever.
    static func areBroken(_ db: Database) -> Bool {
        var open: Int32 = 0
        var peak: Int32 = 0
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &open, &peak, 0)
        return open != 0
    }
}
