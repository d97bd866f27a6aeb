import GRDB
import GRDBSQLite
import SyncCore
package import SyncStore

extension DataStack {
    /// Checks that the tables match the model, then runs the work of a sync. Uses a savepoint if the connection is
    /// inside a transaction, and a new transaction otherwise.
    ///
    /// - Parameters:
    ///   - deferringIndexes: Whether unique indexes that other programs added are checked only after `body`. This has
    ///     no effect in existing tables.
    ///   - isOwn: Whether the ``StoreMonitor`` keeps the facts that the sync records. False if a caller may roll the
    ///     sync back.
    /// - Throws: ``SyncError`` `databaseBusy`, `databaseReadOnly`, `modelMismatch`, `incompatibleTables`,
    ///   `incompatibleConnection`; `CancellationError`; the errors of `body`. The store is then unchanged.
    func transaction(
        _ db: Database, _ request: SyncRequest, deferringIndexes: Bool, isOwn: Bool,
        _ body: (SyncSession) throws -> SyncResult
    ) throws -> SyncResult {
        var result = SyncResult(entity: "")
        let isNested = db.isInsideTransaction
        try transaction(db, isDryRun: request.isDryRun, isOwn: isOwn) { visit in
            let session = try self.session(visit, request)
            // A chunk may read rows from all parts of the tables, so enlarge the page cache.
            if request.isChunked { try PageCache.grow(to: PageCache.largeSize, visit.db) }
            // Indexes of existing tables cannot be dropped: foreign keys may reference their columns.
            result =
                deferringIndexes && !hasExistingTables
                ? try visit.deferringUniqueIndexes(of: layout) { try body(session) } : try body(session)
            try request.cancellation.check()
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
                try DeferredForeignKeys.during(db, isAppDatabase) {
                    try nested(db, endingWith: end, isOwn: isOwn, body)
                }
            } else if isAppDatabase || !isDryRun {
                // In an app database, a dry run waits for locks as the app has configured.
                try run(db, endingWith: end, isOwn: isOwn, body)
            } else if try !tryDryRun(db, isOwn: isOwn, body) {
                try dryRunOnCopy(of: db, body)
            }
        } catch let error as DatabaseError {
            if error.resultCode == .SQLITE_CONSTRAINT {
                throw DatabaseErrorMapper.constraint(error, inExistingTables: hasExistingTables)
            }
            if let error = DatabaseErrorMapper.missingColumn(error) { throw error }
            throw DatabaseErrorMapper.refusal(error) ?? error
        }
    }

    /// Runs `body` on a temporary copy of the committed database. Used if another connection is writing or the store is
    /// read-only.
    private func dryRunOnCopy(of db: Database, _ body: (StoreMonitor.Visit) throws -> Void) throws {
        let copy = try TemporaryStore.copy(of: db)
        try unlocked?.check()
        defer { try? copy.close() }
        try copy.inDatabase { copy in try run(copy, endingWith: .rollback, isOwn: false, body) }
    }

    /// Runs a dry run without waiting for locks.
    ///
    /// - Returns: Whether `body` has run; false if the store is read-only or locked.
    private func tryDryRun(
        _ db: Database, isOwn: Bool, _ body: (StoreMonitor.Visit) throws -> Void
    ) throws -> Bool {
        // SQLite begins a write transaction on a read-only connection without an error.
        if sqlite3_db_readonly(db.sqliteConnection, "main") == 1 { return false }
        var hasBegun = false
        let busyTimeout = try Int32.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
        sqlite3_busy_timeout(db.sqliteConnection, 0)
        defer { sqlite3_busy_timeout(db.sqliteConnection, busyTimeout) }
        do {
            try run(db, endingWith: .rollback, isOwn: isOwn) { visit in
                hasBegun = true
                sqlite3_busy_timeout(db.sqliteConnection, busyTimeout)
                try body(visit)
            }
        } catch let error as DatabaseError where !hasBegun {
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
            // A store that was opened for reading still has triggers of earlier versions of Sync. A dry run would fire
            // them.
            if end == .rollback { try RetiredTables.drop(in: db) }
            if isAppDatabase { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
            try body(visit)
            return end
        }
    }

    /// Runs `body` in a savepoint of the current transaction.
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
    /// Whether the ``StoreMonitor`` keeps the facts that a sync records. False if a caller may roll the sync back.
    let isOwn: Bool

    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult {
        func transaction(deferringIndexes: Bool) throws -> SyncResult {
            try stack.transaction(db, request, deferringIndexes: deferringIndexes, isOwn: isOwn, body)
        }
        if request.isChunkOrPage { return try transaction(deferringIndexes: true) }
        do {
            return try transaction(deferringIndexes: false)
        } catch let first {
            guard try !stack.hasExistingTables && AddedIndex.isInTheWay(first, of: stack.layout, in: db) else {
                throw first
            }
            do {
                return try transaction(deferringIndexes: true)
            } catch {
                // Only the first error names a row, because SQLite checks a deferred index as a whole.
                throw AddedIndex.isSameViolation(first, error) ? first : error
            }
        }
    }

    var repeatsPages: Bool { false }

    var reader: any StoreReader { SQLiteReader(db, stack) }

    func pendingReferences(among references: [SyncResult.Link]) throws -> [SyncResult.Link] {
        try stack.pendingReferences(among: references, in: db)
    }

    func deleteAllRows() throws {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot delete the rows") {
            try db.inSavepoint {
                try stack.deleteAllRows(in: db)
                return .commit
            }
        }
    }

    func makeRowFlagStore() throws -> any RowFlagStore { try TemporaryRowFlags() }
}

extension DataStack: StoreHost {
    package func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await database.writeWithoutTransaction { db in
            try body(SQLiteWriter(stack: self, db: db, isOwn: true))
        }
    }

    package func withReader<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await reading { db in try body(SQLiteReader(db, self)) }
    }

    package func pullStore(_ registration: EngineRegistration) throws -> any PullStore {
        try engine(registration, isImport: true)
    }

    package func engineStore(_ registration: EngineRegistration) throws -> any EngineStore {
        try engine(registration, isImport: false)
    }

    /// Returns a writer on the caller's connection. The writer uses the current transaction of the connection, if there
    /// is one.
    package func writer(_ db: Connection) -> any StoreWriter { SQLiteWriter(stack: self, db: db, isOwn: false) }

    /// Compares a payload graph with the stored rows and writes the diff, in the current transaction of an engine.
    ///
    /// - Parameter isOwn: Whether the ``StoreMonitor`` keeps the facts that the sync records. Pass false inside a
    ///   savepoint that may be rolled back.
    func sync(_ payload: MappedPayload, _ options: SyncOptions, in db: Database, isOwn: Bool) throws -> SyncResult {
        try SQLiteWriter(stack: self, db: db, isOwn: isOwn).transaction(SyncRequest(options: options)) {
            try $0.apply(payload)
        }
    }
}
