package import SyncCore

/// A store that payloads are synced into, and that an import or an engine can keep in sync with a service.
package protocol StoreHost: AnyObject, Sendable {
    /// The model of the store.
    var model: SyncModel { get }
    /// The limit for the number of syncs of this store at the same time.
    var syncLimit: SyncLimit { get }
    /// The results that the writers of this store publish.
    var feed: Feed<SyncResult> { get }
    /// The names and values that the store can keep. The default is ``StoreCapabilities/unlimited``.
    ///
    /// A store with limits calls ``StoreLayout/check(_:)`` when it opens a model.
    var capabilities: StoreCapabilities { get }

    /// Reads the store. The reader is valid only while `body` runs.
    ///
    /// - Throws: The errors of `body`, `CancellationError`.
    func withReader<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result

    /// Runs `body` while no other caller writes through this store. `body` does not run in a transaction.
    ///
    /// - Throws: The errors of `body`, `CancellationError`.
    func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result

    /// Prepares the store for an import of pages, and returns its operations.
    func pullStore(_ registration: EngineRegistration) throws -> any PullStore

    /// Prepares the store for an engine, and returns its operations.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if the store has no outbox.
    func engineStore(_ registration: EngineRegistration) throws -> any EngineStore
}

extension StoreHost {
    package var capabilities: StoreCapabilities { .unlimited }
}

/// A writer to a store. Its transactions run one after the other.
package protocol StoreWriter {
    /// Whether ``transaction(_:_:)`` may run the sync of a page again. Each page then copies the state of its import.
    var repeatsPages: Bool { get }

    /// Runs a sync in a new transaction, or in a savepoint of the caller's transaction. Publishes the result of a new
    /// transaction, except of a dry run.
    ///
    /// - Parameter body: The sync. It may run again after a rollback: if a statement violates a constraint that only
    ///   the final state must satisfy, or if the transaction conflicts with another one. For the chunks of a payload,
    ///   it runs only once, because they cannot be read again. For a page, it runs again only if ``repeatsPages`` is
    ///   true.
    /// - Throws: ``SyncError``, `CancellationError`, or an error of `body`. The store is then unchanged.
    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult

    /// Returns a reader that sees the writes of the current transaction of the writer.
    var reader: any StoreReader { get }

    /// Returns those of the references that are still pending.
    func pendingReferences(among references: [SyncResult.Link]) throws -> [SyncResult.Link]

    /// Deletes all rows, links and pending references, regardless of delete rules.
    func deleteAllRows() throws

    /// Creates an empty store for the row flags of one paged import, outside memory and outside this database.
    func makeRowFlagStore() throws -> any RowFlagStore
}

extension Feed<SyncResult> {
    /// Sends a result to the subscribers, unless it is empty.
    package func publish(_ result: SyncResult) { if !result.isEmpty { send(result) } }
}

// MARK: - Limit

/// A limit for the number of syncs that run at the same time. Further syncs wait, and start in the order of their
/// calls.
package final class SyncLimit: Sendable {
    /// The limit of this process.
    package static let process = SyncLimit()

    private struct Waiter: Sendable {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var maximum: Int?
        var running = 0
        var waiters: [Waiter] = []
        var lastID = 0

        /// Whether another sync may start.
        var hasPlace: Bool { maximum.map { running < max(1, $0) } ?? true }

        /// Removes the waiters that may start, and counts them as running.
        mutating func startWaiters() -> [Waiter] {
            var started: [Waiter] = []
            while hasPlace, !waiters.isEmpty {
                running += 1
                started.append(waiters.removeFirst())
            }
            return started
        }
    }

    private let state = Locked(State())

    package init() {}

    /// The largest number of syncs at the same time; nil for no limit. A number below 1 counts as 1.
    package var maximum: Int? {
        get { state.value.maximum }
        set {
            let started = state.withLock { state in
                state.maximum = newValue
                return state.startWaiters()
            }
            for waiter in started { waiter.continuation.resume() }
        }
    }

    /// Waits until a sync may start, and runs it.
    ///
    /// - Throws: The errors of `sync`, or `CancellationError` if the task is cancelled while it waits.
    package nonisolated(nonsending) func run<Result>(
        _ sync: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await begin()
        defer { end() }
        return try await sync()
    }

    private func begin() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let started: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.waiters.isEmpty, state.hasPlace {
                        state.running += 1
                        return .success(())
                    }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let started { continuation.resume(with: started) }
            }
        } onCancel: {
            // A waiter that is not in the list has started, or has not been added yet and will see the cancellation.
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func end() {
        let started = state.withLock { state in
            state.running -= 1
            return state.startWaiters()
        }
        for waiter in started { waiter.continuation.resume() }
    }
}
