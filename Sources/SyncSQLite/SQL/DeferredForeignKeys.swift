import GRDB
import GRDBSQLite

/// Defers the foreign keys of tables that Sync did not create to the end of a sync, because single statements may
/// violate them. Foreign keys of tables that Sync created are declared as deferred.
enum DeferredForeignKeys {
    static func during<Result>(_ db: Database, _ hasAppTables: Bool, _ body: () throws -> Result) throws -> Result {
        guard hasAppTables, try Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") != true else {
            return try body()
        }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        // Switching the pragma off resets SQLite's count of open violations. So if there are violations, the pragma
        // stays on until the transaction ends.
        defer { if !areBroken(db) { try? db.execute(sql: "PRAGMA defer_foreign_keys = OFF") } }
        return try body()
    }

    /// Returns whether the transaction has unresolved foreign keys, from any statement.
    static func areBroken(_ db: Database) -> Bool {
        var open: Int32 = 0
        var peak: Int32 = 0
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &open, &peak, 0)
        return open != 0
    }
}
