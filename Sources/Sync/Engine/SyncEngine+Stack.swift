public import SyncCalls
import SyncCore
public import SyncService
import SyncStore

extension SyncEngine {
    /// An engine that keeps entities of a store in step with a service.
    ///
    /// The database is prepared: tables beside the rows, and triggers that notice edits from now on, whoever makes them. Rows
    /// that are stored already count as known to the service, those with local keys as new.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`; `invalidOption` for an entity that is named twice or cannot be kept in step;
    ///   `serviceMismatch`, `userMismatch` for a database that is in step with another service or user.
    public init(
        stack: some SyncStack, service: any SyncService, entities: [SyncedEntity],
        settings: EngineSettings = EngineSettings()
    ) throws {
        try self.init(host: stack.host.store, service: service, entities: entities, settings: settings)
    }
}

// MARK: - Sync+ImportPages

extension Sync {
    /// Imports all pages of an entity from a service, and deletes what it does not list any more, once all were read.
    ///
    /// Each page is a transaction. An import that is interrupted goes on where it was with the next call; with a service that
    /// tells what changed, later calls fetch no more than that. Rows are not sent, and edits of them not noticed, so that the
    /// service's count: an engine (``SyncEngine``) does both. One that the app has in the same database goes on noticing its own.
    ///
    /// - Parameter progress: Told how many rows there are by now, and of how many, if the service says.
    /// - Returns: What changed.
    /// - Throws: ``SyncError`` `unknownEntity`, `serviceFailure`, `unauthorized`, `serviceMismatch` for a database that is in step
    ///   with another service; `deletionLimitExceeded` if more would be deleted than the settings allow. What was imported stays.
    @discardableResult
    public static func importPages(
        from service: any SyncService, entity: SyncedEntity, stack: some SyncStack,
        settings: EngineSettings = EngineSettings(), progress: (@Sendable (_ rows: Int, _ of: Int?) -> Void)? = nil
    ) async throws -> SyncReport {
        var settings = settings
        settings.isImport = true
        let engine = try SyncEngine(stack: stack, service: service, entities: [entity], settings: settings)
        let watching = progress.map { progress in
            let events = engine.events
            return Task {
                for await event in events {
                    if case .pulled(_, let rows, let total) = event { progress(rows, total) }
                    if case .finished = event { return }
                }
            }
        }
        defer { watching?.cancel() }
        let report = try await engine.pull()
        // The last page is told too.
        await watching?.value
        return report
    }
}
