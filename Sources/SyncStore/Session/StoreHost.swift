package import SyncCore

/// A store that payloads are synced into, and that an import or an engine can keep in sync with a service.
package protocol StoreHost: AnyObject, Sendable {
    /// The model of the store.
    var model: SyncModel { get }
    /// The limit for the number of syncs of this store at the same time.
    var syncLimit: SyncLimit { get }
    /// The results that the writers of this store publish.
    var feed: Feed<SyncResult> { get }

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
}

extension Feed<SyncResult> {
    /// Sends a result to the subscribers, unless it is empty.
    package func publish(_ result: SyncResult) { if !result.isEmpty { send(result) } }
}
