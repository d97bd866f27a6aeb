import Foundation
package import GRDB
import SyncCore

/// The database of a stack. After ``close()`` every access fails with `storeClosed`.
///
/// GRDB uses a closed connection without a check, and SQLite may crash then. So an access is refused before GRDB is
/// called,
/// or checks its connection first.
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
    /// Held by ``close()``, so that two calls run one after the other.
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

    /// Runs an access that ``close()`` waits for. Once the access has its connection, GRDB lets the close wait for its end.
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

    // `close()` does not wait for these, because it could block the thread that they need. GRDB's errors and a check
    // replace the wait.

    /// Reads in one transaction.
    package func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try checkOpen()
        guard let queue = writer as? DatabaseQueue else {
            return try await translated { try await writer.read(value) }
        }
        // The same as GRDB's `read`, which uses the connection before it calls the closure.
        return try await queue.unsafeRead { db in
            try Self.checkOpen(db)
            return try db.readOnly {
                var result: T?
                try db.inSavepoint {
                    result = try value(db)
                    return .commit
                }
                guard let result else { throw SyncError(.databaseError, "the transaction ended early") }
                return result
            }
        }
    }

    /// Writes in one transaction.
    package func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try checkOpen()
        return try await translated { try await writer.write(updates) }
    }

    /// Runs `updates` on the connection that writes.
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

    /// GRDB refuses a pool, and SQLite a transaction, that was closed after the call began.
    private func translated<T: Sendable>(_ access: () async throws -> T) async throws -> T {
        do {
            return try await access()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
            try checkOpen()
            throw error
        }
    }

    // MARK: Observations

    /// Starts an observation. It ends when the database is closed, with an error.
    ///
    /// - Parameters:
    ///   - end: Called with the error.
    ///   - start: Starts the observation and returns at once. Its second argument stops the observation.
    func observe(
        endingWith end: @escaping @Sendable (any Error) -> Void,
        _ start: (any DatabaseWriter, _ stop: @escaping @Sendable () -> Void) -> AnyDatabaseCancellable
    ) {
        let isClosed = state.withLock {
            if self.isClosed { return true }
            lastObservation += 1
            let id = lastObservation
            // GRDB enqueues its access to the connection here, before a close that waits for the lock.
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
        // What the observation captures is released outside of the lock.
        withExtendedLifetime(stopped) {}
    }

    // MARK: Closing

    /// Ends observations, waits for accesses and closes all connections.
    ///
    /// - Throws: An error of GRDB if a connection is still in use. The database stays open then.
    func close() throws {
        try closing.withLock {
            let ended = state.withLock {
                isClosed = true
                while pendingAccessCount > 0 { state.wait() }
                defer { observations = [:] }
                return observations
            }
            // GRDB stops them on the connection, so before it is closed.
            for observation in ended.values { observation.running.cancel() }
            defer { for observation in ended.values { observation.end(Self.closed) } }
            do {
                try writer.close()
            } catch {
                state.withLock { isClosed = false }
                throw error
            }
        }
    }

    private static var closed: SyncError { SyncError(.storeClosed, "the DataStack is closed; open another one") }
}
