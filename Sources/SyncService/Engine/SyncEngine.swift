public import Foundation
public import SyncCore
package import SyncStore

/// An engine that syncs a store with a web service in both directions. It pulls remote changes, pushes local changes,
/// and resolves conflicts.
///
/// ```swift
/// let engine = try SyncEngine(stack: stack, service: BuiltInService.rest(baseURL: url), entities: ["Project", "Task"])
/// let report = try await engine.sync()
/// ```
/// Once the engine is created, triggers record each local write to rows of its entities, including writes of other
/// programs. `Docs/SyncProtocol.md` describes the protocol. It explains how an interrupted run continues without lost
/// changes or duplicate rows.
public actor SyncEngine {
    let store: any EngineStore
    let service: any SyncService
    let registration: EngineRegistration
    let configuration: SyncEngine.Configuration
    private nonisolated let feed = Feed<SyncEvent>(buffering: .bufferingNewest(1000))
    let name = UUID().uuidString
    private let runs = EngineRunQueue()
    /// The report of the last run, even if it ended with an error. Nil before the first run, during a run, and after a
    /// run that failed to begin.
    package private(set) var lastReport: SyncReport?

    /// Creates an engine for the store of a host.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`, `serviceMismatch`, `userMismatch`; `unknownAttribute`
    ///   in a natural key or field group. Also `invalidOption` for no entities, an entity that is named twice, or an
    ///   entity or setting that the engine or service does not support.
    package init(
        host: any StoreHost, service: any SyncService, entities: [SyncedEntity], configuration: SyncEngine.Configuration
    ) throws {
        registration = try EngineRegistration(entities, service, configuration)
        store = try host.engineStore(registration)
        self.service = try service.configured(for: ServiceEntity.all(entities.map(\.name), of: store.model))
        self.configuration = configuration
    }

    // MARK: Running

    /// Pulls remote changes, resolves conflicts and pushes local changes.
    ///
    /// If a sync of the same entities is in progress, the call joins it. The joined sync runs once more if it succeeds.
    /// If any other run is in progress, the call waits for its end.
    ///
    /// - Parameter entities: The entities to sync; nil for all.
    /// - Throws: ``SyncError`` `deletionLimitExceeded` if deleting the rows that the service lacks would exceed the
    ///   deletion limit. These rows stay, and the engine sends no references to them, and no new rows with such
    ///   references. It still pushes other changes. Also throws errors of the service and of the store.
    @discardableResult
    public func sync(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.sync, entities) { run in
            try await run.recover(isBeforePull: true)
            try await run.pull()
            try await run.reconcile()
            let refusal = try await run.deleteWithinLimit()
            try await run.push()
            try await run.pushAfterDeletions()
            try await run.upload()
            if let refusal { throw refusal }
        }
    }

    /// Pulls remote changes. The engine sends no changes except in-doubt requests of earlier runs, which it must
    /// resolve first.
    ///
    /// - Parameter entities: The entities to pull; nil for all.
    @discardableResult
    public func pull(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.pull, entities) { run in
            try await run.recover(isBeforePull: true)
            try await run.pull()
            try await run.reconcile()
            try await run.delete()
        }
    }

    /// Pushes local changes. The engine pulls only if the service requires a pull before the push.
    ///
    /// - Parameter entities: The entities to push; nil for all.
    @discardableResult
    public func push(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.push, entities) { run in
            try await run.recover()
            try await run.push()
            try await run.upload()
        }
    }

    /// Pulls remote changes of the entities of Swift types, resolves conflicts and pushes local changes, as
    /// ``sync(only:)-([String]?)``.
    @discardableResult
    public func sync(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await sync(only: types.map { $0.entityName })
    }

    /// Pulls remote changes of the entities of Swift types, as ``pull(only:)-([String]?)``.
    @discardableResult
    public func pull(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await pull(only: types.map { $0.entityName })
    }

    /// Pushes local changes of the entities of Swift types, as ``push(only:)-([String]?)``.
    @discardableResult
    public func push(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await push(only: types.map { $0.entityName })
    }

    private func run(
        _ kind: EngineRunQueue.Kind, _ entities: [String]?, _ phases: @escaping EngineRunQueue.Phases
    ) async throws -> SyncReport {
        let names = try registration.names(entities)
        return try await runs.join(kind, names) { [self] in try await once(names, phases) }
    }

    /// Runs a closure while no run of this engine is in progress.
    func betweenRuns(_ body: @escaping @Sendable () async throws -> Void) async throws {
        _ = try await runs.join(.single, []) {
            try await body()
            return SyncReport()
        }
    }

    private func once(
        _ names: [String], _ phases: EngineRunQueue.Phases
    ) async throws -> SyncReport {
        lastReport = nil
        let run = try await EngineRun(store, service, registration, configuration, names, feed, holder: name)
        defer { lastReport = run.report.value }
        do {
            try await phases(run)
            return try await run.finish()
        } catch {
            throw await run.fail(error)
        }
    }

    // MARK: Observing

    /// A new stream of the events of runs. The stream ends when the engine is deallocated.
    public nonisolated var events: AsyncStream<SyncEvent> { feed.stream() }

    /// Whether a run or a reset of this engine is in progress.
    public var isSyncing: Bool { get async { await runs.isAnyOnItsWay } }

    // MARK: Single records

    /// Stores records that the app fetched from the service, as if the engine had pulled them. The engine merges them
    /// with pending changes.
    ///
    /// - Parameter json: One record, or an array of records.
    @discardableResult
    public func apply(_ json: JSONValue, inEntity entity: String) async throws -> SyncReport {
        try await run(.single, [entity]) { run in try await run.write(json, entity) }
    }

    /// Sends a change. If the service accepts it, the engine stores the record of the service, or deletes the row. Use
    /// it for a change that must not be stored before the service accepts it.
    @discardableResult
    public func write(remoteFirst operation: PushOperation) async throws -> SyncReport {
        try await run(.single, [operation.entity]) { run in try await run.write(remoteFirst: operation) }
    }
}

/// A file that is attached to a row and not uploaded yet.
public struct PendingFile: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The primary key of the row.
    public let key: PrimaryKeyValue
    /// The attribute that the file is attached to.
    public let attribute: String
    /// The name that was passed when the file was attached.
    public let name: String
    /// The reason why the engine does not upload the file, such as a rejection by the service; nil for none. To resolve
    /// it, attach another file.
    public let reason: String?
}

// MARK: - Sync status

extension SyncEngine {
    /// Returns the sync status of each entity.
    ///
    /// - Parameter entities: The names of the entities; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func status(only entities: [String]? = nil) async throws -> [EntityStatus] {
        let names = try registration.names(entities)
        return try await store.status().filter { names.contains($0.entity) }
    }

    /// Returns the blocked changes and the quarantined records, with their reasons.
    ///
    /// - Parameter entities: The names of the entities; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func blockedChanges(only entities: [String]? = nil) async throws -> [BlockedChange] {
        let names = try registration.names(entities)
        return try await store.blockedChanges().filter { names.contains($0.entity) }
    }

    /// Returns the conflict log, open conflicts first.
    ///
    /// - Parameter entities: The names of the entities; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func conflicts(only entities: [String]? = nil) async throws -> [SyncConflict] {
        let names = try registration.names(entities)
        return try await store.conflicts().filter { names.contains($0.entity) }
    }

    /// Returns whether the service has changes that the store does not have. The engine writes nothing. It pulls the
    /// changes of all entities, page by page, until it finds a change that is not stored.
    ///
    /// The method does not find deletions if the service has no tombstones; the next reconciliation does. If the
    /// service has no versions, any record that it returns counts as a change.
    public func hasRemoteChanges() async throws -> Bool {
        try await EngineRun.isAnythingNew(store, service, registration)
    }

    /// Returns the number of rows with pending changes. Blocked changes do not count.
    public func pendingChangeCount() async throws -> Int {
        try await store.pendingChangeCount(of: registration.entities.map(\.name))
    }

    /// Observes the number of rows with pending changes: the current number, then each change. Blocked changes do not
    /// count.
    ///
    /// ```swift
    /// for try await count in engine.observePendingChangeCount() { badge.text = "\(count)" }
    /// ```
    /// A slow consumer may skip intermediate numbers but always receives the latest. Writes of other processes are
    /// noticed at the next write of this process. The stream fails with `storeClosed` when the stack is closed.
    public nonisolated func observePendingChangeCount() -> AsyncThrowingStream<Int, any Error> {
        store.observePendingChangeCount()
    }

    /// The date of the last successful sync of the entity that was synced least recently. Nil if an entity was never
    /// synced, or was reset since. A push alone does not count.
    public var lastSyncDate: Date? {
        get async throws {
            let dates = try await status().map(\.lastSyncDate)
            return dates.contains(nil) ? nil : dates.compactMap(\.self).min()
        }
    }

    /// Whether each entity was pulled completely in a successful run since its last reset.
    public var isInitialSyncComplete: Bool {
        get async throws { try await status().allSatisfy(\.isInitialSyncComplete) }
    }

    // MARK: Resolving

    /// Resolves an open conflict. The engine sends the local value, or stores the remote value.
    ///
    /// - Parameter field: The name of an attribute, a to-one relationship, or an ordered many-to-many relationship; nil
    ///   for all open conflicts of the row.
    public func resolve(_ entity: String, key: JSONValue, field: String? = nil, keeping side: SyncConflict.Side)
        async throws
    {
        try await store.resolve(entity, key: key, field: field, keeping: side)
    }

    /// Inserts a row again that the engine deleted because the service no longer had it. The row gets its values in the
    /// conflict log, which omits most rows without local edits. The next push sends the row.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the log has no such row.
    public func restoreDeleted(_ entity: String, key: JSONValue) async throws {
        try await store.restore(entity, key: key)
    }

    /// Resets the state of the engine, as ``EngineReset`` describes.
    ///
    /// - Parameter entities: The entities to reset; nil for all. ``EngineReset/localData`` requires nil, because rows
    ///   of different entities may reference each other.
    /// - Throws: ``SyncError`` `engineBusy` while another engine syncs the database; `invalidOption` for
    ///   ``EngineReset/localData`` of some entities; `unknownEntity`. The call waits for a run of this engine to end.
    public func reset(_ kind: EngineReset, only entities: [String]? = nil) async throws {
        guard kind != .localData || entities == nil else {
            throw SyncError(
                .invalidOption,
                "'reset' with '.localData' requires all entities, because their rows reference each other")
        }
        let names = try registration.names(entities)
        try await betweenRuns { [store, name] in try await store.reset(kind, of: names, holder: name) }
    }
}

// MARK: - Files

/// Files that belong to rows. An attribute contains the name that the service assigned to a file. The contents are at
/// the service and in ``SyncEngine/Configuration/fileStore``.
extension SyncEngine {
    /// Attaches a file to a row. A sync or push uploads the file once the service has the row. Then the engine sets the
    /// attribute to the name that the service assigned. A second file for the attribute replaces the first. To remove
    /// an uploaded file, set the attribute to nil.
    ///
    /// - Parameters:
    ///   - name: The name of the file, such as `cat.png`.
    ///   - type: The media type, such as `image/png`.
    /// - Throws: ``SyncError`` `invalidOption` if ``SyncEngine/Configuration/fileStore`` is nil, or if the service, the
    ///   key or the attribute does not support files; `unknownEntity`, `unknownAttribute`, `rowNotFound`;
    ///   ``FileError``.
    public func attachFile(
        _ data: Data, named name: String, type: String = "application/octet-stream", to entity: String, key: JSONValue,
        attribute: String
    ) async throws {
        let (files, _) = try fileKeepers()
        try await store.checkFile(of: entity, key: key, attribute: attribute)
        let hash = try await files.storePending(data)
        try await store.attach(
            FileContent(hash: hash, name: name, type: type), to: entity, key: key, attribute: attribute)
    }

    /// Returns the local URL of an attribute's file; nil if the attribute has no file. If an upload is pending, returns
    /// the file to upload. Otherwise downloads the file of the service if the folder does not have it.
    ///
    /// - Throws: The errors of ``attachFile(_:named:type:to:key:attribute:)``; ``ServiceError``;
    ///   ``RowAddress/Refusal``.
    public func fileURL(of entity: String, key: JSONValue, attribute: String) async throws -> URL? {
        let (files, service) = try fileKeepers()
        let held = try await store.file(of: entity, key: key, attribute: attribute)
        if let hash = held.pendingHash, let url = await files.pendingFile(hash) { return url }
        guard let name = held.name, !name.isEmpty else { return nil }
        let reference = try service.reference(to: name, of: entity, id: held.remoteID)
        return try await files.file(reference, from: service)
    }

    /// Returns the files that are not uploaded yet, including rejected ones.
    public func pendingFiles() async throws -> [PendingFile] { try await store.pendingFiles().map(PendingFile.init) }

    private func fileKeepers() throws -> (FileStore, any FileService) {
        guard let service = service as? any FileService else {
            throw SyncError(.invalidOption, "the service does not support files")
        }
        guard let files = configuration.fileStore else {
            throw SyncError(.invalidOption, "the engine has no file store: set SyncEngine.Configuration.fileStore")
        }
        return (files, service)
    }
}

extension PendingFile {
    init(_ file: PendingUpload) {
        self.init(
            entity: file.entity, key: file.key, attribute: file.attribute, name: file.content.name, reason: file.reason)
    }
}
