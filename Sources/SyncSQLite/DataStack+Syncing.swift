import GRDB
import GRDBSQLite
import SyncCore
package import SyncStore

extension DataStack {
    /// Runs the work of a sync in a transaction of its own, or as a part of the caller's, if the tables are still those of
    /// the model.
    ///
    /// - Parameters:
    ///   - deferringIndexes: Whether the unique indexes of others hold only for what the work leads to.
    ///   - isOwn: Whether the transaction is the stack's, or an engine's.
    /// - Throws: ``SyncError`` `storeBusy`, `storeReadOnly`, `modelMismatch`, `CancellationError`, and what `body` throws;
    ///   the store is then as it was.
    func transaction(
        _ db: Database, _ request: SyncRequest, deferringIndexes: Bool, isOwn: Bool,
        _ body: (SyncSession) throws -> SyncResult
    ) throws -> SyncResult {
        var result = SyncResult(entity: "")
        let isNested = db.isInsideTransaction
        try transaction(db, isDryRun: request.isDryRun, isOwn: isOwn) { visit in
            let session = try self.session(visit, request)
            // Each piece asks for rows all over the tables.
            if request.isInPieces { try PageCache.grow(to: PageCache.largeSize, visit.db) }
            // The indexes of an app's own tables are what its foreign keys lead to.
            result =
                deferringIndexes && !isAdopted
                ? try visit.deferringUniqueIndexes(of: layout) { try body(session) } : try body(session)
            try Task.checkCancellation()
        }
        if !request.isDryRun, !isNested { feed.publish(result) }
        return result
    }

    /// What a sync works with inside a transaction.
    ///
    /// - Throws: ``SyncError`` `unsuitableTables`.
    func session(_ visit: StoreMonitor.Visit, _ request: SyncRequest) throws -> SyncSession {
        if isAdopted, try OtherUUIDs.exist(in: visit.db, of: layout) {
            try TableCompatibilityCheck.check(model, in: visit.db, readsValues: true)
        }
        return SyncSession(SQLiteSession(visit, layout), model.compiled, request)
    }

    /// A dry run is taken back.
    private func transaction(
        _ db: Database, isDryRun: Bool, isOwn: Bool, _ body: (StoreMonitor.Visit) throws -> Void
    ) throws {
        let end: Database.TransactionCompletion = isDryRun ? .rollback : .commit
        do {
            if db.isInsideTransaction {
                try DeferredForeignKeys.during(db, isAdopted) {
                    try nested(db, endingWith: end, isOwn: isOwn, body)
                }
            } else if isGuest || !isDryRun {
                // How long to wait in an app's database, and what with, is the app's to say.
                try run(db, endingWith: end, isOwn: isOwn, body)
            } else if try !tryDryRun(db, isOwn: isOwn, body) {
                try dryRunOnCopy(of: db, body)
            }
        } catch let error as DatabaseError {
            if isAdopted, error.resultCode == .SQLITE_CONSTRAINT { throw DatabaseErrorMapper.constraint(error) }
            throw DatabaseErrorMapper.refusal(error) ?? error
        }
    }

    /// A dry run does not wait for another process to finish writing, and may be of a store that nobody can write to: it
    /// then works on a copy of what was committed.
    private func dryRunOnCopy(of db: Database, _ body: (StoreMonitor.Visit) throws -> Void) throws {
        let copy = try TemporaryStore.copy(of: db)
        try unlocked?.check()
        defer { try? copy.close() }
        try copy.inDatabase { copy in try run(copy, endingWith: .rollback, isOwn: false, body) }
    }

    /// - Returns: Whether the store could be locked at once, and the work is done.
    private func tryDryRun(
        _ db: Database, isOwn: Bool, _ body: (StoreMonitor.Visit) throws -> Void
    ) throws -> Bool {
        // A transaction of a connection that cannot write begins as if it could.
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
            // A store that was opened to be read still has their triggers, which a dry run would fire.
            if end == .rollback { try RetiredTables.drop(in: db) }
            if isAdopted { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
            try body(visit)
            return end
        }
    }

    /// A part of the caller's transaction.
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

/// A connection that writes to the database of a stack.
struct SQLiteWriter: StoreWriter {
    let stack: DataStack
    let db: Database
    /// Whether the connection is the stack's, and its transaction, if it is in one, an engine's.
    let isOwn: Bool

    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult {
        func transaction(deferringIndexes: Bool) throws -> SyncResult {
            try stack.transaction(db, request, deferringIndexes: deferringIndexes, isOwn: isOwn, body)
        }
        if request.isOfPart { return try transaction(deferringIndexes: true) }
        do {
            return try transaction(deferringIndexes: false)
        } catch {
            guard try !stack.isAdopted && AddedIndex.isInTheWay(error, of: stack.layout, in: db) else { throw error }
            return try transaction(deferringIndexes: true)
        }
    }

    func waiting(_ references: [SyncResult.UnresolvedReference]) throws -> [SyncResult.UnresolvedReference] {
        try stack.waiting(references, in: db)
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

    /// What syncs with a connection of the caller's, in the transaction that it is in, if it is in one.
    package func writer(_ db: Connection) -> any StoreWriter { SQLiteWriter(stack: self, db: db, isOwn: false) }

    /// Compares a plan with the stored rows and writes the difference, in a transaction that an engine is in.
    ///
    /// - Parameter isOwn: Whether what is learnt in it is kept: not if it may be taken back.
    func sync(_ payload: MappedPayload, _ options: SyncOptions, in db: Database, isOwn: Bool) throws -> SyncResult {
        try SQLiteWriter(stack: self, db: db, isOwn: isOwn).transaction(SyncRequest(options: options)) {
            try $0.apply(payload)
        }
    }
}
