public import Foundation
public import SyncCore
package import SyncStore

/// Syncs a store with a web service in both directions: pulls remote changes, pushes local changes, and resolves conflicts.
///
/// ```swift
/// let engine = try SyncEngine(stack: stack, service: BuiltInService.rest(baseURL: url), entities: ["Project", "Task"])
/// let report = try await engine.sync()
/// ```
/// From then on triggers record each local write, including writes of other programs. `Docs/SyncProtocol.md` describes
/// the protocol, and why an interrupted run loses nothing and sends nothing twice.
public actor SyncEngine {
    let store: any EngineStore
    let service: any SyncService
    let registration: EngineRegistration
    let settings: EngineSettings
    private nonisolated let feed = Feed<SyncEvent>(buffering: .bufferingNewest(1000))
    let name = UUID().uuidString
    private let runs = EngineRunQueue()
    /// The report of the last run, even if it ended with an error. Nil before the first run, during a run, and after a run that
    /// could not begin.
    package private(set) var lastReport: SyncReport?

    /// - Throws: ``SyncError`` `unknownEntity`; `invalidOption` for an entity that is named twice, or a setting that
    ///   the service does not support; `serviceMismatch`; `userMismatch`.
    package init(
        host: any StoreHost, service: any SyncService, entities: [SyncedEntity], settings: EngineSettings
    ) throws {
        registration = try EngineRegistration(entities, service, settings)
        store = try host.engineStore(registration)
        self.service = try service.configured(for: ServiceEntity.all(entities.map(\.name), of: store.model))
        self.settings = settings
    }

    // MARK: Running

    /// Pulls remote changes, resolves conflicts and pushes local changes.
    ///
    /// If a sync of the same entities is in progress, the call joins it, and that sync looks for changes once more. The
    /// call waits for any other run to end.
    ///
    /// - Throws: ``SyncError`` `deletionLimitExceeded` if the service lacks more rows than the deletion limit allows. Those
    ///   rows stay, and changes of rows that reference them are not sent. All other changes were sent; see
    ///   ``lastReport``. Errors of the service and of the store.
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

    /// Pulls remote changes and sends nothing.
    @discardableResult
    public func pull(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.pull, entities) { run in
            try await run.recover(isBeforePull: true)
            try await run.pull()
            try await run.reconcile()
            try await run.delete()
        }
    }

    /// Pushes local changes and pulls nothing, unless the service requires a pull before the push.
    @discardableResult
    public func push(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.push, entities) { run in
            try await run.recover()
            try await run.push()
            try await run.upload()
        }
    }

    private func run(
        _ kind: EngineRunQueue.Kind, _ entities: [String]?, _ phases: @escaping EngineRunQueue.Phases
    ) async throws -> SyncReport {
        let names = try registration.names(entities)
        return try await runs.join(kind, names) { [self] in try await once(names, phases) }
    }

    /// Runs a closure while no engine run is in progress.
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
        let run = try await EngineRun(store, service, registration, settings, names, feed, holder: name)
        defer { lastReport = run.report.value }
        do {
            try await phases(run)
            return try await run.finish()
        } catch {
            throw await run.fail(error)
        }
    }

    // MARK: Observing

    /// The events of runs. Each call returns a new stream, which ends with the engine.
    public nonisolated var events: AsyncStream<SyncEvent> { feed.stream() }

    /// Whether a run is in progress.
    public var isSyncing: Bool { get async { await runs.isAnyOnItsWay } }

    // MARK: Single records

    /// Stores records that the app fetched. They do not count as local edits, and pending changes stay.
    @discardableResult
    public func apply(_ json: JSONValue, inEntity entity: String) async throws -> SyncReport {
        try await run(.single, [entity]) { run in try await run.write(json, entity) }
    }

    /// Sends a change, then stores the record that the service returned. Use it for a change that must not be made
    /// locally unless the service accepts it.
    @discardableResult
    public func write(remoteFirst operation: PushOperation) async throws -> SyncReport {
        try await run(.single, [operation.entity]) { run in try await run.write(remoteFirst: operation) }
    }
}

/// A file that is attached to a row and not uploaded yet.
public struct PendingFile: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The attribute for the name of the file.
    public let attribute: String
    /// The name that the file was attached with.
    public let name: String
    /// The reason why the service rejected the file; nil if it is still to be uploaded. Attach another file, or remove this one.
    public let reason: String?
}

// MARK: - Sync status

extension SyncEngine {
    /// Returns the sync status of each entity.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func status(only entities: [String]? = nil) async throws -> [EntityStatus] {
        let names = try registration.names(entities)
        return try await store.status().filter { names.contains($0.entity) }
    }

    /// Returns the blocked changes: rows that the service or a local constraint rejected, with the reason.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func blockedChanges(only entities: [String]? = nil) async throws -> [BlockedChange] {
        let names = try registration.names(entities)
        return try await store.blockedChanges().filter { names.contains($0.entity) }
    }

    /// Returns the conflict log, open conflicts first.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func conflicts(only entities: [String]? = nil) async throws -> [SyncConflict] {
        let names = try registration.names(entities)
        return try await store.conflicts().filter { names.contains($0.entity) }
    }

    /// Asks whether the service has remote changes, and writes nothing. It sends one request for each entity, or one
    /// request in all if the service has a shared cursor. It sends more if the first page has known records only.
    ///
    /// A deletion is not found if the service has no tombstones: the next reconciliation finds it. A service without versions counts as
    /// changed if it returns any record.
    public func hasRemoteChanges() async throws -> Bool {
        try await EngineRun.isAnythingNew(store, service, registration)
    }

    /// Returns the number of rows with pending changes, without blocked ones.
    public func pendingChangeCount() async throws -> Int { try await status().reduce(0) { $0 + $1.pendingChanges } }

    /// The date of the last complete sync of all entities; nil if one was never synced.
    public var lastSyncDate: Date? {
        get async throws {
            let dates = try await status().map(\.lastSync)
            return dates.contains(nil) ? nil : dates.compactMap(\.self).min()
        }
    }

    /// Whether each entity was pulled completely once.
    public var isInitialSyncComplete: Bool {
        get async throws { try await status().allSatisfy(\.isInitialSyncComplete) }
    }

    // MARK: Resolving

    /// Resolves an open conflict: sends the local value, or takes the remote value.
    ///
    /// - Parameter domain: An attribute or to-one relationship; nil for all open conflicts of the row.
    public func resolve(_ entity: String, key: JSONValue, field: String? = nil, takingRemote: Bool) async throws {
        try await store.resolve(entity, key: key, field: field, takingRemote: takingRemote)
    }

    /// Restores a row from the conflict log: one that was edited or inserted here and that the service deleted. The next run pushes it.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the log has no such row.
    public func restoreDeleted(_ entity: String, key: JSONValue) async throws {
        try await store.restore(entity, key: key)
    }

    /// Resets state of the engine. See ``EngineReset``.
    ///
    /// - Parameter only: The entities to reset; nil for all. ``EngineReset/localData`` needs all, since their rows
    ///   reference each other.
    /// - Throws: ``SyncError`` `engineBusy` while another process syncs the database; the call waits for a run of this
    ///   engine. `invalidOption` for ``EngineReset/localData`` of some entities; `unknownEntity`.
    public func reset(_ kind: EngineReset, only entities: [String]? = nil) async throws {
        guard kind != .localData || entities == nil else {
            throw SyncError(
                .invalidOption, "'reset' with '.local' requires all entities, because their rows reference each other")
        }
        let names = try registration.names(entities)
        try await betweenRuns { [store, name] in try await store.reset(kind, of: names, holder: name) }
    }
}

// MARK: - Files

/// Files of rows. An attribute has the name that the service assigned to a file; `EngineSettings.fileStore` has the bytes.
extension SyncEngine {
    /// Attaches a file to a row. A run uploads the bytes once the service has the row; then the attribute has the name that the service
    /// assigned. A second file for the attribute replaces the first. To remove a file, set the attribute to nil.
    ///
    /// - Parameters:
    ///   - name: The name of the file, such as `cat.png`.
    ///   - type: The media type, such as `image/png`.
    /// - Throws: ``SyncError`` `invalidOption` if `EngineSettings.fileStore` is nil or the service keeps no files;
    ///   `unknownAttribute`, `rowNotFound`; ``FileError``.
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

    /// Returns the URL of the file of an attribute; nil if it has none. That is the file to upload, or the file of the
    /// service, which is downloaded if the folder does not have it.
    ///
    /// - Throws: As ``attachFile(_:named:type:to:key:attribute:)``; ``ServiceError``.
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
        guard let files = settings.fileStore else {
            throw SyncError(.invalidOption, "no folder for files: set EngineSettings.files to a FileStore")
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
