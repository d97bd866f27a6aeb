import Foundation
package import GRDB
import SyncCore

/// The database of a stack. After ``close()`` or ``endAccess()``, every access fails with `storeClosed`.
///
/// GRDB does not check whether a connection is closed, and SQLite may crash on a closed connection. Therefore, each
/// access checks that the database is open before the access uses a connection.
///
/// `@unchecked Sendable`: the variables are only accessed while `state` is locked.
package final class StoreDatabase: @unchecked Sendable {
    private struct Observation {
        let running: AnyDatabaseCancellable
        let end: @Sendable (any Error) -> Void
    }

    /// The pool or queue of GRDB.
    package let writer: any DatabaseWriter
    private let state = NSCondition()
    private var isClosed = false
    /// The number of synchronous accesses that do not have their connection yet.
    private var pendingAccessCount = 0
    private var observations: [Int: Observation] = [:]
    private var lastObservation = 0
    /// The lock that ``close()`` holds, so that two calls run one after the other.
    private let closing = NSLock()

    init(_ writer: any DatabaseWriter) { self.writer = writer }

    // MARK: Synchronous accesses

    /// Reads in one transaction.
    package func read<T>(_ value: (Database) throws -> T) throws -> T {
        try withConnection { hasConnection in
            try writer.read { db in
                hasConnection()
                return try value(db)
            }
        }
    }

    /// Writes in one transaction.
    package func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try withConnection { hasConnection in
            try writer.write { db in
                hasConnection()
                return try updates(db)
            }
        }
    }

    /// Runs an access that ``close()`` waits for. This object counts the access until it has its connection. From then
    /// on, GRDB's own `close` waits for it.
    private func withConnection<T>(_ access: (_ hasConnection: () -> Void) throws -> T) throws -> T {
        try state.withLock {
            if isClosed { throw Self.closed }
            pendingAccessCount += 1
        }
        var isWaiting = true
        func hasConnection() {
            guard isWaiting else { return }
            isWaiting = false
            state.withLock {
                pendingAccessCount -= 1
                state.broadcast()
            }
        }
        defer { hasConnection() }
        return try access(hasConnection)
    }

    // MARK: Asynchronous accesses

    // `close()` does not wait for asynchronous accesses, because it could block the thread that they need. An access
    // that comes too late fails in GRDB or in `checkOpen`.

    /// Reads in one transaction.
    package func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try checkOpen()
        guard let queue = writer as? DatabaseQueue else {
            return try await translated { try await writer.read(value) }
        }
        // GRDB's `read` uses the connection before it calls the closure. This code does the same work after a check.
        return try await queue.unsafeRead { db in
            try Self.checkOpen(db)
            return try db.readOnly { try db.savepoint { try value(db) } }
        }
    }

    /// Writes in one transaction.
    package func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try checkOpen()
        return try await translated { try await writer.write(updates) }
    }

    /// Runs `updates` on the writing connection, without a transaction.
    package func writeWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try checkOpen()
        return try await writer.writeWithoutTransaction { db in
            try Self.checkOpen(db)
            return try updates(db)
        }
    }

    private func checkOpen() throws {
        if state.withLock({ isClosed }) { throw Self.closed }
    }

    private static func checkOpen(_ db: Database) throws {
        if db.sqliteConnection == nil { throw closed }
    }

    /// Runs `access`, and throws `storeClosed` for the `SQLITE_MISUSE` error that GRDB or SQLite reports if the
    /// database was closed during the call.
    private func translated<T: Sendable>(_ access: () async throws -> T) async throws -> T {
        do {
            return try await access()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
            try checkOpen()
            throw error
        }
    }

    // MARK: Observations

    /// Starts an observation. When the database is closed, the observation ends with `storeClosed`.
    ///
    /// - Parameters:
    ///   - end: Called with `storeClosed` when the database is closed, or at once if it is already closed.
    ///   - start: Starts the observation with GRDB and returns at once. Its second argument is a closure that stops the
    ///     observation.
    func observe(
        endingWith end: @escaping @Sendable (any Error) -> Void,
        _ start: (any DatabaseWriter, _ stop: @escaping @Sendable () -> Void) -> AnyDatabaseCancellable
    ) {
        let isClosed = state.withLock {
            if self.isClosed { return true }
            lastObservation += 1
            let id = lastObservation
            // GRDB enqueues its access to the connection here. A concurrent `close()` waits for the lock, so it comes
            // later.
            let running = start(writer) { [weak self] in self?.stop(id) }
            observations[id] = Observation(running: running, end: end)
            return false
        }
        if isClosed { end(Self.closed) }
    }

    private func stop(_ id: Int) {
        let stopped = state.withLock {
            let observation = observations.removeValue(forKey: id)
            observation?.running.cancel()
            return observation
        }
        // The captured values of the observation are released outside of the lock.
        withExtendedLifetime(stopped) {}
    }

    // MARK: Closing

    /// Waits for synchronous accesses, closes all connections and ends the observations.
    ///
    /// - Throws: An error of GRDB if a connection is still in use. The database stays open then. Also an error of GRDB
    ///   if rows could not be moved from the write-ahead log to the file. The database is closed then.
    func close() throws {
        try closing.withLock {
            let (wasClosed, ended) = state.withLock {
                let wasClosed = isClosed
                isClosed = true
                while pendingAccessCount > 0 { state.wait() }
                defer { observations = [:] }
                return (wasClosed, observations)
            }
            // GRDB stops observations on the connection, so stop them before it is closed.
            for observation in ended.values { observation.running.cancel() }
            defer { for observation in ended.values { observation.end(Self.closed) } }
            let checkpoint = Result { if !wasClosed { try moveLogToFile() } }
            do {
                try writer.close()
            } catch {
                state.withLock { isClosed = false }
                throw error
            }
            try checkpoint.get()
        }
    }

    /// Moves rows from the write-ahead log to the file. SQLite does so when the last connection closes, but ignores
    /// errors, such as a full disk.
    private func moveLogToFile() throws {
        try writer.writeWithoutTransaction { db in
            if !db.configuration.readonly { _ = try db.checkpoint(.passive) }
        }
    }

    /// Ends the observations and makes later accesses fail. The connections, which belong to the app, stay open.
    func endAccess() {
        let ended = state.withLock {
            isClosed = true
            defer { observations = [:] }
            return observations
        }
        for observation in ended.values {
            observation.running.cancel()
            observation.end(Self.closed)
        }
    }

    /// The error of an access to a closed database.
    static var closed: SyncError {
        SyncError(.storeClosed, "the database of the DataStack is closed; open another one")
    }
}

extension Database {
    /// Runs `body` in a savepoint, or in a transaction outside of one, and returns its result. If `body` throws an error,
    /// its writes are rolled back.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        var result: Result?
        try inSavepoint {
            result = try body()
            return .commit
        }
        guard let result else { throw SyncError(.databaseError, "the transaction ended early") }
        return result
    }
}
