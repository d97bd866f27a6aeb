import GRDB
import GRDBSQLite
import SyncCore
import SyncStore

extension DataStack {
    /// Runs the work of a sync in a transaction of its own, or as a part of the caller's, if the tables are still those of
    /// the model.
    ///
    /// - Parameters:
    ///   - deferringIndexes: Whether the unique indexes of others hold only for what the work leads to.
    ///   - followed: What knows of arrived rows in a transaction of the caller's, if it is followed.
    /// - Throws: ``SyncError`` `storeBusy`, `storeReadOnly`, `modelMismatch`, `CancellationError`, and what `body` throws;
    ///   the store is then as it was.
    func transaction(
        _ db: Database, _ request: SyncRequest, deferringIndexes: Bool, followed: ArrivalWatch? = nil,
        _ body: (SyncSession, Database) throws -> SyncResult
    ) throws -> SyncResult {
        var result = SyncResult(entity: "")
        let isNested = db.isInsideTransaction
        try transaction(db, isDryRun: request.isDryRun) { db, arrivals in
            let session = try self.session(db, arrivals ?? followed, request)
            // The indexes of an app's own tables are what its foreign keys lead to.
            result =
                deferringIndexes && !isAdopted
                ? try HandMadeSchema(layout, db).deferringUniqueIndexes { try body(session, db) }
                : try body(session, db)
            try Task.checkCancellation()
        }
        if !request.isDryRun, !isNested { feed.publish(result) }
        return result
    }

    /// What a sync works with inside a transaction.
    ///
    /// - Parameter arrivals: Nil in a transaction of the caller's, who may take back what would be learnt in it.
    /// - Throws: ``SyncError`` `unsuitableConnection`, `unsuitableTables`, `storeReadOnly`, `modelMismatch`.
    func session(_ db: Database, _ arrivals: ArrivalWatch?, _ request: SyncRequest) throws -> SyncSession {
        try GuestConnection.check(db)
        if arrivals == nil { try watch.check(db, isNoted: false) }
        if isAdopted, try OtherUUIDs.exist(in: db, of: layout) {
            try AdoptionCheck.check(model, in: db, readsValues: true)
        }
        return SyncSession(SQLiteSession(db, layout, arrivals ?? ArrivalWatch()), model.compiled, request)
    }

    /// A dry run is taken back.
    private func transaction(_ db: Database, isDryRun: Bool, _ body: (Database, ArrivalWatch?) throws -> Void) throws {
        let end: Database.TransactionCompletion = isDryRun ? .rollback : .commit
        do {
            if db.isInsideTransaction {
                try DeferredForeignKeys.during(db, isAdopted) {
                    try nested(db, endingWith: end) { try body(db, nil) }
                }
            } else if isGuest || !isDryRun {
                // How long to wait in an app's database, and what with, is the app's to say.
                try run(db, endingWith: end) { try body(db, arrivals) }
            } else if try !tryDryRun(db, body) {
                try dryRunOnCopy(of: db, body)
            }
        } catch let error as DatabaseError {
            if isAdopted, error.resultCode == .SQLITE_CONSTRAINT { throw StoreFailure.constraint(error) }
            throw StoreFailure.refusal(error) ?? error
        }
    }

    /// A dry run does not wait for another process to finish writing, and may be of a store that nobody can write to: it
    /// then works on a copy of what was committed.
    private func dryRunOnCopy(of db: Database, _ body: (Database, ArrivalWatch?) throws -> Void) throws {
        let copy = try TemporaryStore.copy(of: db)
        try unlocked?.check()
        defer { try? copy.close() }
        try copy.inDatabase { copy in
            try run(copy, endingWith: .rollback) { try body(copy, ArrivalWatch()) }
        }
    }

    /// - Returns: Whether the store could be locked at once, and the work is done.
    private func tryDryRun(_ db: Database, _ body: (Database, ArrivalWatch?) throws -> Void) throws -> Bool {
        // A transaction of a connection that cannot write begins as if it could.
        if sqlite3_db_readonly(db.sqliteConnection, "main") == 1 { return false }
        var hasBegun = false
        let patience = try Int32.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
        sqlite3_busy_timeout(db.sqliteConnection, 0)
        do {
            try run(db, endingWith: .rollback) {
                hasBegun = true
                sqlite3_busy_timeout(db.sqliteConnection, patience)
                try body(db, arrivals)
            }
        } catch let error as DatabaseError where !hasBegun {
            sqlite3_busy_timeout(db.sqliteConnection, patience)
            guard StoreFailure.refusal(error) != nil else { throw error }
            return false
        }
        return true
    }

    private func run(
        _ db: Database, endingWith end: Database.TransactionCompletion, _ body: () throws -> Void
    ) throws {
        try db.inTransaction(.immediate) {
            try watch.check(db)
            // A store that was opened to be read still has their triggers, which a dry run would fire.
            if end == .rollback { try RetiredTables.drop(in: db) }
            if isAdopted { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
            try body()
            return end
        }
    }

    /// A part of the caller's transaction.
    private func nested(
        _ db: Database, endingWith end: Database.TransactionCompletion, _ body: () throws -> Void
    ) throws {
        try db.inSavepoint {
            if end == .rollback { try RetiredTables.drop(in: db) }
            try body()
            return end
        }
    }
}
