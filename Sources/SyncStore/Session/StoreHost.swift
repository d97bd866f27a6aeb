package import SyncCore

/// A store that payloads are synced into, and that an engine can keep in step with a service.
package protocol StoreHost: AnyObject, Sendable {
    /// What the rows are of.
    var model: SyncModel { get }

    /// Runs `body` while no other caller writes through this store. It is not in a transaction.
    ///
    /// - Throws: What `body` throws, `CancellationError`.
    func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result

    /// Makes what is needed to notice edits.
    func engineStore(_ registration: EngineRegistration) throws -> any EngineStore
}

/// What writes to a store, one transaction after the other.
package protocol StoreWriter {
    /// Runs the work of a sync in a transaction of its own, or as a part of the caller's, and tells observers what came of it.
    ///
    /// - Parameter body: Run once more, in a new transaction, if a step of it met a rule that only what it leads to has to keep; not
    ///   if the request is of a part of a payload (``SyncRequest/isOfPart``).
    /// - Throws: ``SyncError``, `CancellationError`, what `body` throws; the store is then as it was.
    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult

    /// Those of the references that still wait for their rows.
    func waiting(_ references: [SyncResult.UnresolvedReference]) throws -> [SyncResult.UnresolvedReference]
}
