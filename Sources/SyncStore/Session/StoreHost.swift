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

/// A writer to a store that runs one transaction after the other.
package protocol StoreWriter {
    /// Runs a sync in a separate transaction, or in the caller's, and notifies observers of its result.
    ///
    /// - Parameter body: The work. It runs again, in a new transaction, if a statement violates a constraint that only
    ///   the final state must satisfy. It does not run again for a part of a payload (``SyncRequest/isOfPart``).
    /// - Throws: ``SyncError``, `CancellationError`, or an error of `body`. The store is then unchanged.
    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult

    /// Returns the references that are still pending.
    func pendingReferences(among references: [SyncResult.Link]) throws -> [SyncResult
        .Link]
}
