package import SyncCore

/// A store that payloads are synced into, and that an engine can keep in sync with a service.
package protocol StoreHost: AnyObject, Sendable {
    /// The model of the store.
    var model: SyncModel { get }

    /// Runs `body` while no other caller writes through this store. `body` does not run in a transaction.
    ///
    /// - Throws: The errors of `body`, `CancellationError`.
    func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result

    /// Prepares change capture, and returns the store operations for the engine.
    func engineStore(_ registration: EngineRegistration) throws -> any EngineStore
}

/// A writer to a store. Its transactions run one after the other.
package protocol StoreWriter {
    /// Runs a sync in a new transaction or in the transaction of the caller, and notifies observers of its result.
    ///
    /// - Parameter body: The sync. It runs again in a new transaction if a statement violates a constraint that only
    ///   the final state must satisfy. For a part of a payload (``SyncRequest/isChunkOrPage``), it runs only once.
    /// - Throws: ``SyncError``, `CancellationError`, or an error of `body`. The store is then unchanged.
    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult

    /// Returns those of the references that are still pending.
    func pendingReferences(among references: [SyncResult.Link]) throws -> [SyncResult
        .Link]
}
