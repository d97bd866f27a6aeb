package import Foundation
package import SyncCore
package import SyncStore

/// The arguments that every form of `Sync.changes` shares.
package struct SyncCall: Sendable {
    package let entity: String
    let store: any StoreHost
    let predicate: RecordPredicate?
    package let parent: Sync.Parent?
    let relationship: String?
    let operations: SyncOperations
    package var options: SyncOptions

    package init(
        _ entity: String, _ stack: some SyncStack, _ predicate: RecordPredicate?, _ parent: Sync.Parent?,
        _ relationship: String?, _ operations: SyncOperations, _ options: SyncOptions
    ) {
        self.entity = entity
        store = stack.host.store
        self.predicate = predicate
        self.parent = parent
        self.relationship = relationship
        self.operations = operations
        self.options = options
    }

    package var model: SyncModel { store.model }

    /// What is asked of the store, beside the payload.
    func request(isDryRun: Bool) -> SyncRequest {
        SyncRequest(predicate: predicate, options: options, isDryRun: isDryRun)
    }

    /// Maps a payload where the caller runs, before the call first suspends, and writes what differs.
    nonisolated(nonsending) func changesHere(
        _ stage: (PayloadStaging) throws -> StagedPayload
    ) async throws -> SyncResult {
        try await changes { try stage(staging()) }
    }

    /// Maps a payload where the caller runs, and finds out what differs.
    nonisolated(nonsending) func dryRunHere(
        _ stage: (PayloadStaging) throws -> StagedPayload
    ) async throws -> SyncResult {
        try await store.sync(stage(staging()), request(isDryRun: true))
    }

    /// Maps a payload on a ``MappingThread``, and writes what differs.
    nonisolated(nonsending) func changes(
        _ stage: @Sendable (PayloadStaging) throws -> StagedPayload
    ) async throws -> SyncResult {
        try await changes { try await MappingThread.run { try stage(staging()) } }
    }

    /// Maps a payload on a ``MappingThread``, and finds out what differs.
    nonisolated(nonsending) func dryRun(
        _ stage: @Sendable (PayloadStaging) throws -> StagedPayload
    ) async throws -> SyncResult {
        try await store.sync(MappingThread.run { try stage(staging()) }, request(isDryRun: true))
    }

    private nonisolated(nonsending) func changes(
        _ staged: nonisolated(nonsending) () async throws -> StagedPayload
    ) async throws -> SyncResult {
        guard let run = options.payload.run else {
            return try await store.sync(staged(), request(isDryRun: false))
        }
        try run.beginPage(page) { [self] run in try await sweep(run) }
        do {
            let result = try await store.sync(staged(), request(isDryRun: false))
            run.endPage(succeeded: true)
            return result
        } catch {
            run.endPage(succeeded: false)
            throw error
        }
    }

    // MARK: Bytes

    /// Maps a payload of bytes, and writes what differs.
    nonisolated(nonsending) func changes(_ json: Data) async throws -> SyncResult {
        try await changes { try $0.stage(json, options: options) }
    }

    /// Maps a payload of bytes, and finds out what differs.
    package nonisolated(nonsending) func dryRun(_ json: Data) async throws -> SyncResult {
        try await dryRun { try $0.stage(json, options: options) }
    }

    // MARK: In a transaction of the caller's

    /// Maps a payload, and writes what differs, or finds it out.
    package func changes(
        by writer: any StoreWriter, isDryRun: Bool, _ stage: (PayloadStaging) throws -> StagedPayload
    ) throws -> SyncResult {
        guard options.payload.run == nil else {
            throw SyncError(
                .invalidOption,
                "a page of a run is synced in a transaction of its own; the run remembers it, and could not forget it if the "
                    + "caller's were taken back")
        }
        return try writer.sync(stage(staging()), request(isDryRun: isDryRun))
    }

    /// Maps a payload of bytes, and writes what differs, or finds it out.
    package func changes(_ json: Data, by writer: any StoreWriter, isDryRun: Bool) throws -> SyncResult {
        try changes(by: writer, isDryRun: isDryRun) { try $0.stage(json, options: options) }
    }

    package func staging() throws -> PayloadStaging {
        try PayloadStaging(
            inEntity: entity, of: store.model, parent: parent, relationship: relationship, operations: operations,
            options: options)
    }

    /// The same call for a part of a payload, which cannot tell how far the whole is.
    var quiet: SyncCall {
        var call = self
        call.options.progress = nil
        return call
    }

    // MARK: Runs

    /// What the payload is of: each of its lists, if it has several.
    private var name: String {
        options.entities.isEmpty
            ? entity : options.entities.map { "\($0.path.joined(separator: "."))=\($0.entity)" }.joined(separator: " ")
    }

    var page: SyncRun.Call {
        SyncRun.Call(
            store: ObjectIdentifier(store), entity: name, predicate: predicate, parent: parent,
            relationship: relationship, operations: operations)
    }

    /// A payload without records deletes whatever is in scope, but for what the pages mentioned.
    func sweep(_ run: SyncRun) async throws -> SyncResult {
        try await store.sweep(ending, run, request(isDryRun: false))
    }

    /// The plan of a payload without records.
    var ending: ChangePlan {
        get throws {
            var last = self
            if last.options.payload.run != nil { last.options.payload = .snapshot }
            return try last.staging().planWithoutRecords()
        }
    }
}
