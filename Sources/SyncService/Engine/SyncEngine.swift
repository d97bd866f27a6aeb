public import Foundation
public import SyncCore
package import SyncStore

/// Keeps a store and a web service in step: pulls what is new, sends what changed here, and settles what both changed.
///
/// ```swift
/// let engine = try SyncEngine(stack: stack, service: RESTService(baseURL: url), entities: ["Project", "Task"])
/// let report = try await engine.sync()
/// ```
/// From then on edits are noticed, whoever makes them and with whatever. `Docs/SyncProtocol.md` is what it does, and why
/// nothing is lost or sent twice when it is interrupted.
public actor SyncEngine {
    let store: any EngineStore
    let service: any SyncService
    let registration: EngineRegistration
    let settings: EngineSettings
    private nonisolated let feed = Feed<SyncEvent>(buffering: .bufferingNewest(1000))
    let name = UUID().uuidString
    private let runs = EngineRunQueue()
    /// What the last run did, also one that ended with an error: what was done stays done. Nil before the first, while a run goes
    /// on, and after one that could not begin.
    public private(set) var lastReport: SyncReport?

    /// - Throws: ``SyncError`` `unknownEntity`, `invalidOption` for entities that are named twice, a service that cannot do
    ///   what is asked for; `otherService`, `otherUser`.
    package init(
        host: any StoreHost, service: any SyncService, entities: [SyncedEntity], settings: EngineSettings
    ) throws {
        registration = try EngineRegistration(entities, service, settings)
        store = try host.engineStore(registration)
        self.service = try service.knowing(ServiceEntity.all(entities.map(\.name), of: store.model))
        self.settings = settings
    }

    // MARK: Running

    /// Pulls, settles conflicts and sends. Joins such a run that is on its way, which then looks once more for changes; waits
    /// for any other.
    ///
    /// - Throws: ``SyncError`` `deletionGuard` if the service lacks more rows than may go for that: those stay, and what points to
    ///   them waits; all else was sent, as ``lastReport`` has it. What the service or the store failed with.
    @discardableResult
    public func sync(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.sync, entities) { run in
            try await run.recover(isBeforePull: true)
            try await run.pull()
            try await run.sweep()
            let refusal = try await run.deleteWithinGuard()
            try await run.push()
            try await run.pushAfterDeletions()
            try await run.upload()
            if let refusal { throw refusal }
        }
    }

    /// Pulls only.
    @discardableResult
    public func pull(only entities: [String]? = nil) async throws -> SyncReport {
        try await run(.pull, entities) { run in
            try await run.recover(isBeforePull: true)
            try await run.pull()
            try await run.sweep()
            try await run.delete()
        }
    }

    /// Sends only.
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

    /// Does something between two runs.
    func alone(_ body: @escaping @Sendable () async throws -> Void) async throws {
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

    // MARK: Looking

    /// What runs do, as they do it. Every call gives a sequence of its own, which ends with the engine.
    public nonisolated var events: AsyncStream<SyncEvent> { feed.stream() }

    /// Whether a run is on its way.
    public var isSyncing: Bool { get async { await runs.isAnyOnItsWay } }

    // MARK: Single answers

    /// Imports an answer that the app fetched itself: not an edit, and rows that were edited here stay.
    @discardableResult
    public func apply(_ json: JSONValue, inEntity entity: String) async throws -> SyncReport {
        try await run(.single, [entity]) { run in try await run.write(json, entity) }
    }

    /// Sends a change first, and then stores what the service answered: for what must not be done unless it is done there.
    @discardableResult
    public func write(remoteFirst operation: PushOperation) async throws -> SyncReport {
        try await run(.single, [operation.entity]) { run in try await run.write(remoteFirst: operation) }
    }
}

/// A file that was attached to a row and that the service does not have yet.
public struct PendingFile: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: PrimaryKeyValue
    /// The attribute that will hold its name.
    public let attribute: String
    /// The name that it was attached with.
    public let name: String
    /// Why the service refused it; nil for one that is still to be sent. Attach another one, or remove it.
    public let reason: String?
}

// MARK: - Standing

// How things stand, and what somebody decides.
extension SyncEngine {
    /// How each entity stands.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func status(only entities: [String]? = nil) async throws -> [EntityStatus] {
        let names = try registration.names(entities)
        return try await store.status().filter { names.contains($0.entity) }
    }

    /// The rows that the service refused, or that a constraint here did, and why.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func parkedRows(only entities: [String]? = nil) async throws -> [BlockedChange] {
        let names = try registration.names(entities)
        return try await store.parkedRows().filter { names.contains($0.entity) }
    }

    /// The log of conflicts, open ones first.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func conflicts(only entities: [String]? = nil) async throws -> [LoggedConflict] {
        let names = try registration.names(entities)
        return try await store.conflicts().filter { names.contains($0.entity) }
    }

    /// Whether the service has anything new; nothing is written. One request for each entity, or for all where the service has one
    /// cursor for them; more where what it says first is known already and goes on.
    ///
    /// What a service does not tell is not noticed: without tombstones a deletion shows in the listing of the next run. One that says
    /// no versions is taken to have news if it has any row to tell of.
    public func changed() async throws -> Bool {
        try await EngineRun.isAnythingNew(store, service, registration)
    }

    /// How many rows have changes that the service does not have, those left out that it refused.
    public func pendingChanges() async throws -> Int { try await status().reduce(0) { $0 + $1.pending } }

    /// When all entities were in step; nil if one never was.
    public var lastSyncDate: Date? {
        get async throws {
            let dates = try await status().map(\.lastSync)
            return dates.contains(nil) ? nil : dates.compactMap(\.self).min()
        }
    }

    /// Whether all there was of every entity has been pulled once.
    public var isInitialSyncComplete: Bool {
        get async throws { try await status().allSatisfy(\.isInitialSyncComplete) }
    }

    // MARK: Deciding

    /// Decides an open conflict: the value here is sent, or that of the service taken.
    ///
    /// - Parameter domain: An attribute or to-one; nil for all that are open of the row.
    public func resolve(_ entity: String, key: JSONValue, domain: String? = nil, takingRemote: Bool) async throws {
        try await store.resolve(entity, key: key, domain: domain, takingRemote: takingRemote)
    }

    /// Makes a row anew that a deletion of the service's took away though it was edited or made here, as the log has it; the
    /// next run sends it.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the log has no such row.
    public func restore(_ entity: String, key: JSONValue) async throws { try await store.restore(entity, key: key) }

    /// Forgets. See ``EngineReset``.
    ///
    /// - Parameter only: The entities that it is of; nil for all. The rows here go of all, since they belong to each other.
    /// - Throws: ``SyncError`` `engineBusy` while another process syncs the database; a run of this engine is waited for.
    ///   `invalidOption` for ``EngineReset/local`` of some; `unknownEntity`.
    public func reset(_ kind: EngineReset, only entities: [String]? = nil) async throws {
        guard kind != .local || entities == nil else {
            throw SyncError(
                .invalidOption, "rows of one entity belong to those of others: only all of them can be reset")
        }
        let names = try registration.names(entities)
        try await alone { [store, name] in try await store.reset(kind, of: names, holder: name) }
    }
}

// MARK: - Files

/// Files of rows. An attribute holds the name that the service gave a file; `EngineSettings.files` has the bytes.
extension SyncEngine {
    /// Attaches a file to a row: its bytes are kept, and sent once the service has the row, by this run or a later one. Then the attribute
    /// holds the name that the service gave it. Another one for the same attribute takes its place; to remove a file, set the
    /// attribute to nil.
    ///
    /// - Parameters:
    ///   - name: What it is called, such as `cat.png`.
    ///   - type: Its type, such as `image/png`.
    /// - Throws: ``SyncError`` `invalidOption` where there is no `EngineSettings.files`, or the service keeps no files;
    ///   `unknownAttribute`, `rowNotFound`; ``FileError``.
    public func attach(
        _ data: Data, named name: String, type: String = "application/octet-stream", to entity: String, key: JSONValue,
        attribute: String
    ) async throws {
        let (files, _) = try fileKeepers()
        try await store.checkFile(of: entity, key: key, attribute: attribute)
        let hash = try await files.keepWaiting(data)
        try await store.attach(
            FileContent(hash: hash, name: name, type: type), to: entity, key: key, attribute: attribute)
    }

    /// Where the file is that an attribute of a row holds: the one that waits to be sent, or the service's, downloaded unless it is here;
    /// nil if it holds none.
    ///
    /// - Throws: As ``attach(_:named:type:to:key:attribute:)``; ``ServiceError``.
    public func file(of entity: String, key: JSONValue, attribute: String) async throws -> URL? {
        let (files, service) = try fileKeepers()
        let held = try await store.file(of: entity, key: key, attribute: attribute)
        if let hash = held.waiting, let url = await files.waitingFile(hash) { return url }
        guard let name = held.name, !name.isEmpty else { return nil }
        let reference = try service.reference(to: name, of: entity, id: held.remoteID)
        return try await files.file(reference, from: service)
    }

    /// The files that the service does not have yet, those that it refused among them.
    public func waitingFiles() async throws -> [PendingFile] { try await store.waitingFiles().map(PendingFile.init) }

    private func fileKeepers() throws -> (FileStore, any FileService) {
        guard let service = service as? any FileService else {
            throw SyncError(.invalidOption, "the service keeps no files")
        }
        guard let files = settings.files else {
            throw SyncError(.invalidOption, "there is no place for files: set EngineSettings.files to a FileStore")
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
