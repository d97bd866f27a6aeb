public import SyncCalls
public import SyncService
import SyncStore

extension SyncEngine {
    /// An engine that keeps entities of a store in step with a service.
    ///
    /// The database is prepared: tables beside the rows, and triggers that notice edits from now on, whoever makes them. Rows
    /// that are stored already count as known to the service, those with local keys as new.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`; `invalidOption` for an entity that is named twice or cannot be kept in step;
    ///   `otherService`, `otherUser` for a database that is in step with another service or user.
    public init(
        stack: some SyncStack, service: any SyncService, entities: [SyncedEntity],
        settings: EngineSettings = EngineSettings()
    ) throws {
        try self.init(host: stack.host.store, service: service, entities: entities, settings: settings)
    }
}
