public import SyncCalls
public import SyncCore
import SyncStore

extension SyncEngine {
    /// Creates an engine that syncs entities of a store with a service.
    ///
    /// The initializer adds the tables and triggers of the engine to the database. From then on, the triggers record
    /// each local write to rows of the entities, including writes of other programs.
    ///
    /// If no engine has synced an entity before, the engine treats the rows with a temporary key as new. The engine
    /// assumes that the service has the records of the other rows.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`; `unknownAttribute` for an unknown name in the
    ///   `naturalKey` or `fieldGroups` of a ``SyncedEntity``. Also `invalidOption` for an empty list of entities, a
    ///   duplicate entity, or an unsupported entity or setting. Also `serviceMismatch` or `userMismatch` if the
    ///   database belongs to another service or user, and errors of the store.
    public init(
        stack: some SyncStack, service: any SyncService, entities: [SyncedEntity],
        configuration: SyncEngine.Configuration = SyncEngine.Configuration()
    ) throws {
        try self.init(host: stack.host.store, service: service, entities: entities, configuration: configuration)
    }

    /// Creates an engine that syncs the entities of Swift types, with the policies of the configuration.
    ///
    /// ```swift
    /// let engine = try SyncEngine(stack: stack, service: service, entities: [Project.self, Todo.self])
    /// ```
    /// For details, see ``init(stack:service:entities:configuration:)-(_,_,[SyncedEntity],_)``. To set the policies of
    /// one entity, pass a ``SyncedEntity`` to that initializer: `SyncedEntity(Todo.self, conflictPolicy: .serverWins)`.
    @_disfavoredOverload
    public init(
        stack: some SyncStack, service: any SyncService, entities: [any SyncEntity.Type],
        configuration: SyncEngine.Configuration = SyncEngine.Configuration()
    ) throws {
        try self.init(
            stack: stack, service: service, entities: entities.map { SyncedEntity($0.entityName) },
            configuration: configuration)
    }
}

// MARK: - Sync+ImportPages

extension Sync {
    /// Imports all records of an entity from a service, page by page, and deletes the rows whose records the service
    /// no longer has.
    ///
    /// The import writes each page in a separate transaction. If an import is interrupted, the next call continues the
    /// import. If the service can report changes since a cursor, later calls fetch only new changes.
    ///
    /// The import does not capture local edits. Remote values overwrite local edits that no engine has captured. The
    /// import sends no pending changes. If an engine uses the same database, that engine still captures local edits,
    /// and the import may repeat the in-doubt requests of the engine. To sync in both directions, use a ``SyncEngine``.
    ///
    /// - Parameters:
    ///   - service: The service that has the records.
    ///   - entity: The entity, with the settings for its records.
    ///   - stack: The store that receives the rows.
    ///   - configuration: The configuration of the import.
    ///   - progress: A function that the import calls after each page. It receives the number of imported records so
    ///     far, and the total number of records. The total is nil if the service does not report a total.
    /// - Returns: The changes of the import.
    /// - Throws: The errors of ``SyncEngine/init(stack:service:entities:configuration:)-(_,_,[SyncedEntity],_)`` and
    ///   of ``SyncEngine/pull(only:)-([String]?)``. For example, the call throws ``SyncError`` `deletionLimitExceeded`
    ///   if the deletions exceed ``SyncEngine/Configuration/deletionLimit``. If the call throws an error, the imported
    ///   rows stay.
    @discardableResult
    public static func importPages(
        from service: any SyncService, entity: SyncedEntity, stack: some SyncStack,
        configuration: SyncEngine.Configuration = SyncEngine.Configuration(),
        progress: (@Sendable (_ rows: Int, _ of: Int?) -> Void)? = nil
    ) async throws -> SyncReport {
        try await service.importPages(of: entity, into: stack.host.store, configuration, progress)
    }
}
