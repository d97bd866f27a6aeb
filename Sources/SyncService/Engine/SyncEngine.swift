import Foundation
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
    private nonisolated let feed = EventFeed()
    let name = UUID().uuidString
    private let runs = EngineRuns()
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
        self.service = try service.knowing(ServedEntity.all(entities.map(\.name), of: store.model))
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
        _ kind: EngineRuns.Kind, _ entities: [String]?, _ phases: @escaping EngineRuns.Phases
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
        _ names: [String], _ phases: EngineRuns.Phases
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
