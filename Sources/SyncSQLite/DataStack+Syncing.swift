import GRDB
import GRDBSQLite
import SyncCore
package import SyncStore

extension DataStack {
    /// Runs the work of a sync in a transaction, or in a savepoint of the caller's transaction, after it checks that
    /// the tables match the model.
    ///
    /// - Parameters:
    ///   - deferringIndexes: Whether unique indexes of other programs are checked only at the end of the work.
    ///   - isOwn: Whether the transaction belongs to the stack or to an engine.
    /// - Throws: ``SyncError`` `databaseBusy`, `databaseReadOnly`, `modelMismatch`, `CancellationError`, and the errors of
    ///   `body`. The store is then unchanged.
    func transaction(
        _ db: Database, _ request: SyncRequest, deferringIndexes: Bool, isOwn: Bool,
        _ body: (SyncSession) throws -> SyncResult
    ) throws -> SyncResult {
        var result = SyncResult(entity: "")
        let isNested = db.isInsideTransaction
        try transaction(db, isDryRun: request.isDryRun, isOwn: isOwn) { visit in
            let session = try self.session(visit, request)
            // Each chunk reads rows from all parts of the tables.
            if request.isInPieces { try PageCache.grow(to: PageCache.largeSize, visit.db) }
            // Foreign keys of an app's tables may reference columns with these indexes.
            result =
                deferringIndexes && !hasExistingTables
                ? try visit.deferringUniqueIndexes(of: layout) { try body(session) } : try body(session)
            try Task.checkCancellation()
        }
        if !request.isDryRun, !isNested { feed.publish(result) }
        return result
    }

    /// Creates the session of a sync inside a transaction.
    ///
    /// - Throws: ``SyncError`` `incompatibleTables`.
    func session(_ visit: StoreMonitor.Visit, _ request: SyncRequest) throws -> SyncSession {
        if hasExistingTables, try OtherUUIDs.exist(in: visit.db, of: layout) {
            try TableCompatibilityCheck.check(model, in: visit.db, readsValues: true)
        }
        return SyncSession(SQLiteSession(visit, layout), model.compiled, request)
    }

    /// Runs `body` in a transaction or savepoint, which a dry run rolls back.
    private func transaction(
        _ db: Database, isDryRun: Bool, isOwn: Bool, _ body: (StoreMonitor.Visit) throws -> Void
    ) throws {
        let end: Database.TransactionCompletion = isDryRun ? .rollback : .commit
        do {
            if db.isInsideTransaction {
                try DeferredForeignKeys.during(db, hasExistingTables) {
                    try nested(db, endingWith: end, isOwn: isOwn, body)
                }
            } else if isAppDatabase || !isDryRun {
                // The app configures how its database waits for locks, and for how long.
                try run(db, endingWith: end, isOwn: isOwn, body)
            } else if try !tryDryRun(db, isOwn: isOwn, body) {
                try dryRunOnCopy(of: db, body)
            }
        } catch let error as DatabaseError {
            if hasExistingTables, error.resultCode == .SQLITE_CONSTRAINT { throw DatabaseErrorMapper.constraint(error) }
            throw DatabaseErrorMapper.refusal(error) ?? error
        }
    }

    /// Runs a dry run on a temporary copy of the committed database, if another process is writing or the store is
    /// read-only.
    private func dryRunOnCopy(of db: Database, _ body: (StoreMonitor.Visit) throws -> Void) throws {
        let copy = try TemporaryStore.copy(of: db)
        try unlocked?.check()
        defer { try? copy.close() }
        try copy.inDatabase { copy in try run(copy, endingWith: .rollback, isOwn: false, body) }
    }

    /// - Returns: Whether the store could be locked at once and the work is done.
    private func tryDryRun(
        _ db: Database, isOwn: Bool, _ body: (StoreMonitor.Visit) throws -> Void
    ) throws -> Bool {
        // SQLite begins a write transaction on a read-only connection without an error.
        if sqlite3_db_readonly(db.sqliteConnection, "main") == 1 { return false }
        var hasBegun = false
        let patience = try Int32.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
        sqlite3_busy_timeout(db.sqliteConnection, 0)
        do {
            try run(db, endingWith: .rollback, isOwn: isOwn) { visit in
                hasBegun = true
                sqlite3_busy_timeout(db.sqliteConnection, patience)
                try body(visit)
            }
        } catch let error as DatabaseError where !hasBegun {
            sqlite3_busy_timeout(db.sqliteConnection, patience)
            guard DatabaseErrorMapper.refusal(error) != nil else { throw error }
            return false
        }
        return true
    }

    private func run(
        _ db: Database, endingWith end: Database.TransactionCompletion, isOwn: Bool,
        _ body: (StoreMonitor.Visit) throws -> Void
    ) throws {
        try db.inTransaction(.immediate) {
            let visit = try watch.visit(db, isOwn: isOwn)
            // A store that was opened for reading still has the triggers of earlier versions, which a dry run would
            // fire.
            if end == .rollback { try RetiredTables.drop(in: db) }
            if hasExistingTables { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
            try body(visit)
            return end
        }
    }

    /// Runs `body` in a savepoint of the caller's transaction.
    private func nested(
        _ db: Database, endingWith end: Database.TransactionCompletion, isOwn: Bool,
        _ body: (StoreMonitor.Visit) throws -> Void
    ) throws {
        try db.inSavepoint {
            let visit = try watch.visit(db, isOwn: isOwn)
            if end == .rollback { try RetiredTables.drop(in: db) }
            try body(visit)
            return end
        }
    }
}

/// Writes to the database of a stack on one connection.
struct SQLiteWriter: StoreWriter {
    let stack: DataStack
    let db: Database
    /// Whether the connection belongs to the stack, and its current transaction, if any, to an engine.
    let isOwn: Bool

    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult {
        func transaction(deferringIndexes: Bool) throws -> SyncResult {
            try stack.transaction(db, request, deferringIndexes: deferringIndexes, isOwn: isOwn, body)
        }
        if request.isOfPart { return try transaction(deferringIndexes: true) }
        do {
            return try transaction(deferringIndexes: false)
        } catch {
            guard try !stack.hasExistingTables && AddedIndex.isInTheWay(error, of: stack.layout, in: db) else {
                throw error
            }
            return try transaction(deferringIndexes: true)
        }
    }

    func pendingReferences(among references: [SyncResult.Link]) throws -> [SyncResult
        .Link]
    {
        try stack.pendingReferences(among: references, in: db)
    }
}

extension DataStack: StoreHost {
    package func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await database.writeWithoutTransaction { db in
            try body(SQLiteWriter(stack: self, db: db, isOwn: true))
        }
    }

    package func engineStore(_ registration: EngineRegistration) throws -> any EngineStore { try engine(registration) }

    /// Returns a writer on the caller's connection. It uses the current transaction of the connection, if there is one.
    package func writer(_ db: Connection) -> any StoreWriter { SQLiteWriter(stack: self, db: db, isOwn: false) }

    /// Compares a payload graph with the stored rows and writes the diff, in the current transaction of an engine.
    ///
    /// - Parameter isOwn: Whether the monitor keeps what it learns in the transaction. Pass false if the transaction
    ///   may be rolled back.
    func sync(_ payload: MappedPayload, _ options: SyncOptions, in db: Database, isOwn: Bool) throws -> SyncResult {
        try SQLiteWriter(stack: self, db: db, isOwn: isOwn).transaction(SyncRequest(options: options)) {
            try $0.apply(payload)
        }
    }
}
