public import Foundation
public import SyncCore
package import SyncStore

/// An engine that syncs a store with a web service in both directions. The engine pulls remote changes, pushes local
/// changes, and resolves conflicts.
///
/// ```swift
/// let engine = try SyncEngine(stack: stack, service: BuiltInService.rest(baseURL: url), entities: ["Project", "Task"])
/// let report = try await engine.sync()
/// ```
/// Once the engine is created, triggers in the database record each local write to rows of the engine's entities. The
/// triggers also record writes of other programs. `Docs/SyncProtocol.md` describes the protocol, and explains how an
/// interrupted run continues without lost changes or duplicate rows.
public actor SyncEngine {
    let store: any EngineStore
    let service: any SyncService
    let registration: EngineRegistration
    let configuration: SyncEngine.Configuration
    private nonisolated let feed = Feed<SyncEvent>(buffering: .bufferingNewest(1000))
    let name = UUID().uuidString
    private let runs = EngineRunQueue()
    /// The report of the last run, even of a run that ended with an error. Nil before the first run, during a run, and
    /// after a run that failed to begin.
    public private(set) var lastReport: SyncReport?

    /// Creates an engine for the store of a host.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`, `serviceMismatch`, `userMismatch`; `unknownAttribute`
    ///   for an unknown name in the `naturalKey` or `fieldGroups` of a ``SyncedEntity``. Also `invalidOption` for an
    ///   empty list of entities, a duplicate entity, or an unsupported entity or setting.
    package init(
        host: any StoreHost, service: any SyncService, entities: [SyncedEntity], configuration: SyncEngine.Configuration
    ) throws {
        registration = try EngineRegistration(entities, service, configuration)
        store = try host.engineStore(registration)
        self.service = try service.configured(for: ServiceEntity.all(entities.map(\.name), of: host.model))
        self.configuration = configuration
    }

    // MARK: Running

    /// Pulls remote changes, resolves conflicts and pushes local changes.
    ///
    /// If a sync of the same entities is in progress, the call joins that sync. If the joined sync succeeds, the engine
    /// runs the sync once more. If any other run of this engine is in progress, the call first waits for the end of
    /// that run.
    ///
    /// The engine deletes the rows whose records the service no longer has. If the deletions without a tombstone would
    /// exceed ``SyncEngine/Configuration/deletionLimit``, these rows stay. The engine then does not push references to
    /// these rows, or new rows with such references. The engine still pushes other changes.
    ///
    /// - Parameter entities: The entities to sync; nil for all.
    /// - Returns: The changes of the run; for a joined sync, the changes of all runs of that sync.
    /// - Throws: ``SyncError`` `deletionLimitExceeded` if rows stay because of the limit; `engineBusy` while another
    ///   engine syncs the database; `unknownEntity`; errors of the service, such as `serviceUnavailable`,
    ///   `serviceFailure`, `unauthorized` and `serverRestored`. Also `invalidOption` if the conflict policy is
    ///   ``ConflictPolicy/lastWriterWins`` and a record has no modification time. Also errors of the store and of the
    ///   ``ServiceCredentials`` closure, and `CancellationError`.
    @discardableResult
    public func sync(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.sync, entities) { run, outbox in
            try await outbox.recover(isBeforePull: true)
            try await run.pull()
            try await run.reconcile()
            let refusal = try await run.deleteWithinLimit()
            try await outbox.push()
            try await outbox.pushAfterDeletions()
            try await outbox.upload()
            if let refusal { throw refusal }
        }
    }

    /// Pulls remote changes. The engine sends no pending changes, but may repeat in-doubt requests: earlier requests
    /// whose outcome is unknown.
    ///
    /// - Parameter entities: The entities to pull; nil for all.
    /// - Throws: The errors of ``sync(only:)-([String]?)``.
    @discardableResult
    public func pull(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.pull, entities) { run, outbox in
            try await outbox.recover(isBeforePull: true)
            try await run.pull()
            try await run.reconcile()
            try await run.delete()
        }
    }

    /// Pushes local changes. The engine pulls only if the service rejects an atomic push as outdated, and then pushes
    /// again.
    ///
    /// - Parameter entities: The entities to push; nil for all.
    /// - Throws: The errors of ``sync(only:)-([String]?)``.
    @discardableResult
    public func push(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.push, entities) { _, outbox in
            try await outbox.recover()
            try await outbox.push()
            try await outbox.upload()
        }
    }

    private func run(
        _ kind: EngineRunQueue.Kind, _ entities: [String]?, sendsRequests: Bool = true,
        _ phases: @escaping EngineRunQueue.Phases
    ) async throws -> SyncReport {
        let names = try registration.names(entities)
        return try await runs.join(kind, names) { [self] in try await once(names, sendsRequests, phases) }
    }

    /// Runs a closure while no run of this engine is in progress.
    func betweenRuns(_ body: @escaping @Sendable () async throws -> Void) async throws {
        _ = try await runs.join(.single, []) {
            try await body()
            return SyncReport()
        }
    }

    private func once(
        _ names: [String], _ sendsRequests: Bool, _ phases: EngineRunQueue.Phases
    ) async throws -> SyncReport {
        lastReport = nil
        let run = try await EngineRun(
            store, service, registration, configuration, names, holder: name, sendsRequests: sendsRequests
        ) { [feed] event in feed.send(event) }
        defer { lastReport = run.report.value }
        do {
            try await phases(run, OutboxRun(run, store))
            return try await run.finish()
        } catch {
            throw await run.fail(error)
        }
    }

    // MARK: Observing

    /// A new stream of the events that the engine sends after the property is read. A slow consumer may miss the oldest
    /// events. The stream ends when the engine is deallocated.
    public nonisolated var events: AsyncStream<SyncEvent> { feed.stream() }

    /// Whether a run or a reset of this engine is in progress.
    public var isSyncing: Bool { get async { await runs.isAnyOnItsWay } }

    // MARK: Single records

    /// Stores records that the app fetched from the service, and merges the records with pending changes. The engine
    /// sends no request, and does not wait for a stored delay.
    ///
    /// Call this method for data that the service sent through another channel, such as a push message, because
    /// `Sync.changes` would store the data as local changes.
    ///
    /// The engine does not detect whether a record is older than the stored row. The known version of the row stays. If
    /// the service has another version, it rejects the next change of the row, and the engine merges that version.
    ///
    /// - Parameter json: One record, or an array of records.
    /// - Throws: ``SyncError`` `recordExpected` if a value is not a JSON object; `primaryKeyMissing` if a record has no
    ///   valid primary key; `unknownEntity`, `engineBusy`. If a record is invalid, the call stores none.
    @discardableResult
    public func apply(_ json: JSONValue, inEntity entity: String) async throws -> SyncReport {
        try await run(.single, [entity], sendsRequests: false) { _, outbox in try await outbox.write(json, entity) }
    }

    /// Sends a change to the service before the change is stored. If the service accepts the change, the engine stores
    /// the resulting record, or deletes the row.
    ///
    /// - Returns: The changes in the store. The report counts these changes as pulled.
    /// - Throws: ``SyncError`` `rowNotFound` if the service no longer has the record; `serviceFailure` if the service
    ///   rejects the change or has another version; other errors of ``sync(only:)-([String]?)``. If the outcome is
    ///   unknown, the error is `serviceUnavailable`, `timedOut` or `serviceFailure`, and the service may have applied
    ///   the change.
    @discardableResult
    public func write(remoteFirst operation: PushOperation) async throws -> SyncReport {
        try await run(.single, [operation.entity]) { _, outbox in try await outbox.write(remoteFirst: operation) }
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
    /// The reason why the engine does not upload the file, such as a rejection by the service; nil if there is none. To
    /// resolve the problem, attach another file.
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

    /// Returns the blocked changes and the quarantined records, each with a reason.
    ///
    /// - Parameter entities: The names of the entities; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func blockedChanges(only entities: [String]? = nil) async throws -> [BlockedChange] {
        let names = try registration.names(entities)
        return try await store.blockedChanges().filter { names.contains($0.entity) }
    }

    /// Returns the conflicts in the conflict log: first the open conflicts, then the resolved conflicts. Each group
    /// begins with the oldest conflict.
    ///
    /// - Parameter entities: The names of the entities; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func conflicts(only entities: [String]? = nil) async throws -> [SyncConflict] {
        let names = try registration.names(entities)
        return try await store.conflicts().filter { names.contains($0.entity) }
    }

    /// Returns whether the service has changes that the store does not have. The engine requests the changes of each
    /// entity, page by page, until a page has such a change. The method does not change the store.
    ///
    /// The method does not find deletions without a tombstone. A record without a version always counts as a change.
    ///
    /// - Throws: ``SyncError`` `serviceFailure`, `unauthorized`, and other errors of the service. The engine does not
    ///   repeat a request that fails.
    public func hasRemoteChanges() async throws -> Bool {
        try await EngineRun.isAnythingNew(store, service, registration)
    }

    /// Returns the number of rows with pending changes that are not blocked.
    public func pendingChangeCount() async throws -> Int {
        try await store.pendingChangeCount(of: registration.entities.map(\.name))
    }

    /// Observes the number of rows with pending changes that are not blocked.
    ///
    /// ```swift
    /// for try await count in engine.observePendingChangeCount() { badge.text = "\(count)" }
    /// ```
    /// The stream contains the current number, then each new number. A slow consumer can miss intermediate numbers, but
    /// always receives the latest number. The observation detects writes of other processes only when this process
    /// writes to the synced tables. When the stack is closed, the stream throws
    /// ``SyncError`` `storeClosed`.
    public nonisolated func observePendingChangeCount() -> AsyncThrowingStream<Int, any Error> {
        store.observePendingChangeCount()
    }

    /// Observes the sync status of each entity: pending and blocked changes, open conflicts and the last sync.
    ///
    /// ```swift
    /// for try await status in engine.observeStatus() { show(status) }
    /// ```
    /// The stream contains the current status, then each new status. The limits of ``observePendingChangeCount()`` apply.
    public nonisolated func observeStatus() -> AsyncThrowingStream<[EntityStatus], any Error> { store.observeStatus() }

    /// The earliest of the entities' last sync dates; nil if an entity has no ``EntityStatus/lastSyncDate``. A push
    /// alone does not count as a sync.
    public var lastSyncDate: Date? {
        get async throws {
            let dates = try await status().map(\.lastSyncDate)
            return dates.contains(nil) ? nil : dates.compactMap(\.self).min()
        }
    }

    /// True if successful runs have pulled all records of each entity. After a reset, or after `deleteAllRows()`, the
    /// value is false until the engine has pulled all records again.
    public var isInitialSyncComplete: Bool {
        get async throws { try await status().allSatisfy(\.isInitialSyncComplete) }
    }

    // MARK: Resolving

    /// Resolves an open conflict: stores the remote value, or keeps the local value for the next push.
    ///
    /// - Parameters:
    ///   - key: The primary key of the row.
    ///   - field: The ``SyncConflict/field`` of the conflict; nil for all open conflicts of the row.
    ///   - side: The side whose value the row has after the call.
    /// - Throws: ``SyncError`` `rowNotFound` if there is no matching open conflict; `invalidOption` if the entity has
    ///   no field with this name; `unknownEntity`. Also `rowNotFound` if the remote value references a row that is not
    ///   stored.
    public func resolve(_ entity: String, key: JSONValue, field: String? = nil, keeping side: SyncConflict.Side)
        async throws
    {
        try await store.resolve(entity, key: key, field: field, keeping: side)
    }

    /// Resolves an open conflict of the conflict log: stores the remote value, or keeps the local value for the next
    /// push.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the conflict is not open any more, or if the remote value references a
    ///   row that is not stored.
    public func resolve(_ conflict: SyncConflict, keeping side: SyncConflict.Side) async throws {
        try await resolve(
            conflict.entity, key: conflict.key.json, field: conflict.field.isEmpty ? nil : conflict.field, keeping: side
        )
    }

    /// Discards a blocked change. See ``discardChange(of:key:)-(String,_)``.
    public func discard(_ change: BlockedChange) async throws {
        try await discardChange(of: change.entity, key: change.key.json)
    }

    /// Discards the pending change of a row, blocked or not, so that the row is again as the service last sent it.
    ///
    /// The call deletes a new row. Of an edited row, it resets the edited attributes and links. It inserts a deleted row
    /// again, together with the deleted rows that a cascading delete rule connects with it, as far as the service has
    /// them. Attributes that are not exported have no value then, and links of other rows that the deletion cleared stay
    /// cleared. If a request of the change has no outcome yet, the service may apply it. Then the next push sends the
    /// former values.
    ///
    /// - Parameter key: The primary key of the row.
    /// - Throws: ``SyncError`` `rowNotFound` if the row has no pending change, or was deleted before the service
    ///   confirmed that it has the row; `unknownEntity`; `databaseError` if a constraint rejects the former values.
    public func discardChange(of entity: String, key: JSONValue) async throws {
        try await store.discardChange(of: entity, key: key)
    }

    /// Restores the row of a conflict, which the engine deleted after a remote deletion. See
    /// ``restoreDeleted(_:key:)``.
    public func restoreDeleted(_ conflict: SyncConflict) async throws {
        try await restoreDeleted(conflict.entity, key: conflict.key.json)
    }

    /// Restores a row that the engine deleted after a remote deletion. The values come from the conflict log. The log
    /// contains deleted rows with local edits, but only some rows without local edits. The next push creates a record
    /// for the row. If another row has the key by now, the restored row gets a new key.
    ///
    /// - Parameter key: The primary key that the row had.
    /// - Throws: ``SyncError`` `rowNotFound` if the row is not in the log; `unknownEntity`; `databaseError` if a
    ///   constraint rejects the row. Also `rowNotFound` if the key is a composite key and another row has the key.
    public func restoreDeleted(_ entity: String, key: JSONValue) async throws {
        try await store.restore(entity, key: key)
    }

    /// Resets the state of the engine, as ``EngineReset`` describes. If a run of this engine is in progress, the call
    /// first waits for the end of the run.
    ///
    /// - Parameter entities: The entities to reset; nil for all. ``EngineReset/localData`` requires nil, because rows
    ///   of different entities may reference each other.
    /// - Throws: ``SyncError`` `engineBusy` while another engine syncs the database; `invalidOption` for
    ///   ``EngineReset/localData`` if `entities` is not nil; `unknownEntity`.
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

/// Files that are attached to rows. An attribute contains the name or the URL that the service assigned to a file. The
/// contents of the files are at the service and in ``SyncEngine/Configuration/fileStore``.
extension SyncEngine {
    /// Attaches a file to a row. A sync or push uploads the file after the service has the record of the row. Then the
    /// engine sets the attribute to the name or URL that the service assigned to the file. A second file for the
    /// attribute replaces the first file. To remove an uploaded file, set the attribute to nil.
    ///
    /// - Parameters:
    ///   - data: The contents of the file.
    ///   - name: The name of the file, such as `cat.png`.
    ///   - type: The media type, such as `image/png`.
    ///   - key: The primary key of the row.
    ///   - attribute: The attribute for the file: an exported attribute of type `string`.
    /// - Throws: ``SyncError`` `invalidOption` if ``SyncEngine/Configuration/fileStore`` is nil, or if the service does
    ///   not support files. Also `invalidOption` if the primary key has several parts, or if the attribute is not an
    ///   exported `string`. Also `unknownEntity`, `unknownAttribute`, `rowNotFound`; ``FileError``.
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

    /// Returns the local URL of an attribute's file, or nil if the attribute has no file. If an upload is pending, the
    /// method returns the URL of the file to upload. Otherwise the engine downloads the file from the service, unless
    /// the ``FileStore`` already contains the file.
    ///
    /// A later download may remove the file at the URL, so read the file soon.
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

    /// Returns the attached files that are not uploaded yet, including rejected files. Files of deleted rows are not
    /// included.
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
