public import SyncCalls
public import SyncCore
public import SyncService
import SyncStore

extension SyncEngine {
    /// Creates an engine that syncs entities of a store with a service.
    ///
    /// The initializer adds the tables of the engine and its triggers to the database. From then on the triggers record
    /// each local write, including writes of other programs. For an entity that no engine has synced before, rows with
    /// a temporary key are new. The engine assumes that the service has its other rows.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`; `unknownAttribute` in a natural key or field group;
    ///   `invalidOption` for an entity or setting that the engine does not support. Also `serviceMismatch` or
    ///   `userMismatch` if the database belongs to another service or user.
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
    /// ``init(stack:service:entities:configuration:)-(_,_,[SyncedEntity],_)`` describes the details. It also takes an
    /// entity with policies of its own, such as `SyncedEntity(Todo.self, conflictPolicy: .serverWins)`.
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
    /// Imports all pages of an entity from a service, then deletes the rows that the service no longer lists.
    ///
    /// Each page is written in its own transaction. If an import is interrupted, the next call continues it. If the
    /// service reports changes since a cursor, later calls fetch only these changes.
    ///
    /// The import sends nothing and does not capture local edits, so values of the service overwrite them. To sync in
    /// both directions, use a ``SyncEngine``. Change capture of an engine in the same database continues.
    ///
    /// - Parameter progress: A function that receives the number of imported rows so far, and the total; nil if the
    ///   service does not report one.
    /// - Returns: The changes of the import.
    /// - Throws: ``SyncError`` `unknownEntity`, `serviceFailure`, `unauthorized`, `engineBusy`; `serviceMismatch` or
    ///   `userMismatch` if the database belongs to another service or user. Also `deletionLimitExceeded` if the
    ///   deletions exceed the limit of the configuration. The imported rows stay.
    @discardableResult
    public static func importPages(
        from service: any SyncService, entity: SyncedEntity, stack: some SyncStack,
        configuration: SyncEngine.Configuration = SyncEngine.Configuration(),
        progress: (@Sendable (_ rows: Int, _ of: Int?) -> Void)? = nil
    ) async throws -> SyncReport {
        var configuration = configuration
        configuration.isImport = true
        let engine = try SyncEngine(stack: stack, service: service, entities: [entity], configuration: configuration)
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
        // Wait for the event of the last page, so that `progress` receives it.
        await watching?.value
        return report
    }
}
