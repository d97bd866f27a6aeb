import GRDB
import GRDBSQLite
import SyncCore

/// What a connection of an app's own database must be set to, for a sync to be what it says.
enum GuestConnection {
    /// Before any table is made.
    static func checkDatabase(_ db: Database) throws {
        try checkForeignKeys(db)
        let encoding = try String.fetchOne(db, sql: "PRAGMA encoding") ?? ""
        guard encoding == "UTF-8" else {
            throw SyncError(
                .unsuitableConnection,
                "the database keeps text as \(encoding), and conditions compare it as UTF-8; make it with "
                    + "'PRAGMA encoding = \"UTF-8\"'")
        }
    }

    /// Before anything is written. A connection that only reads would begin a transaction as if it could write.
    static func check(_ db: Database) throws {
        if try isReadOnly(db) { throw SyncError(.storeReadOnly, "this connection to the database is read-only") }
        try checkForeignKeys(db)
    }

    /// Also of a queue while it reads.
    static func isReadOnly(_ db: Database) throws -> Bool {
        try db.configuration.readonly || sqlite3_db_readonly(db.sqliteConnection, "main") == 1
            || Bool.fetchOne(db.cachedStatement(sql: "PRAGMA query_only")) == true
    }

    private static func checkForeignKeys(_ db: Database) throws {
        guard try Bool.fetchOne(db.cachedStatement(sql: "PRAGMA foreign_keys")) != true else { return }
        throw SyncError(
            .unsuitableConnection,
            "foreign keys are off on this connection, so that rows could be left that refer to deleted ones; "
                + "set 'configuration.foreignKeysEnabled = true', and in a DatabaseMigrator "
                + "'registerMigration(_, foreignKeyChecks: .immediate)'")
    }
}
