import Foundation
import SyncCore
import SyncStore

/// One run: what its phases share. Each phase is a file.
final class EngineRun: Sendable {
    let store: any EngineStore
    let service: any SyncService
    let registration: EngineRegistration
    let settings: EngineSettings
    /// The entities of this run.
    let entities: [String]
    let start: EngineStart
    let patience: Patience
    /// The keys that lead to each value that is sent, by entity.
    let memberPaths: [String: [[String]]]
    let report = Locked(SyncReport())
    /// What was pulled last, of a service that has one cursor for all entities.
    let cursor = Locked<String?>(nil)
    private let feed: EventFeed
    private let heartbeat: Task<Void, Never>
    /// The entities of which this run has seen all ids.
    let listed = Locked<Set<String>>([])
    /// The entities of which this run has seen all that is new.
    let pulled = Locked<Set<String>>([])
    /// The entities whose missing rows are known.
    let swept = Locked<Set<String>>([])
    /// The entities of which rows were to be changed that the service does not have any more.
    let foundGone = Locked<Set<String>>([])
    /// The requests that may have been carried out and were refused in this run: the next one asks again.
    let leftOpen = Locked<Set<Int64>>([])
    /// The requests for rows that the service took and that were looked for in this run.
    let lookedFor = Locked<Set<Int64>>([])
    /// The requests that are sent again when it was pulled whether the row was deleted meanwhile.
    let heldBack = Locked<Set<Int64>>([])

    init(
        _ store: any EngineStore, _ service: any SyncService, _ registration: EngineRegistration,
        _ settings: EngineSettings, _ entities: [String], _ feed: EventFeed, holder: String
    ) async throws {
        self.store = store
        self.service = service
        self.registration = registration
        self.settings = settings
        self.entities = entities
        self.feed = feed
        memberPaths = store.memberPaths
        start = try await store.begin(registration, holder: holder)
        patience = Patience(settings, failures: start.attempts) { event in
            guard case .waiting(let duration, let reason) = event else { return feed.send(event) }
            feed.send(.waiting(duration, reason: service.hidingSecrets(in: reason)))
        }
        heartbeat = Self.heartbeat(store, start.lease, settings.clock)
        do {
            if let notBefore = start.notBefore, settings.earlierWaits.keeps(isAsked: start.isAsked) {
                try await patience.wait(
                    until: Date(timeIntervalSince1970: Double(notBefore) / 1000),
                    start.isAsked ? "it asked to be left alone" : "it failed in an earlier run", isAsked: start.isAsked)
            }
        } catch {
            throw await fail(error)
        }
    }

    var lease: EngineLease { start.lease }

    func tell(_ event: SyncEvent) { feed.send(event) }

    func noteChanges(of entity: String, _ change: (inout SyncReport.Changes) -> Void) {
        report.withLock { change(&$0.entities[entity, default: .init()]) }
    }

    /// Keeps the database for a run while a request is out, or while it waits: either may take longer than a lease.
    private static func heartbeat(
        _ store: any EngineStore, _ lease: EngineLease, _ clock: EngineClock
    ) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                do { try await clock.beat() } catch { return }
                do {
                    try await store.renew(lease)
                } catch let error as SyncError where error.code == .engineBusy {
                    // The run hears of it with its next transaction.
                    return
                } catch {
                    // The store is busy: the next beat comes before the lease is over.
                }
            }
        }
    }

    /// Asks the service, again if it fails for a reason that passes.
    func asking<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        while true {
            do {
                let answer = try await body()
                await patience.succeeded()
                return answer
            } catch let failure as ServiceFailure where failure.isTransient {
                try await patience.wait(after: failure)
            }
        }
    }

    // MARK: The end

    func finish() async throws -> SyncReport {
        heartbeat.cancel()
        let rest = service.backoff.map { settings.clock.now().addingTimeInterval($0.seconds).milliseconds }
        try await store.finish(entities.filter(pulled.value.contains), notBefore: rest, attempts: 0, lease)
        let report = report.value
        feed.send(.finished(report))
        return report
    }

    /// Frees the database, and keeps how long the service is to be left alone. What was done stays done.
    func fail(_ error: any Error) async -> any Error {
        heartbeat.cancel()
        let (notBefore, failures) = await patience.debt
        let (store, lease) = (store, lease)
        // A cancelled task cannot write.
        try? await Task { try await store.finish([], notBefore: notBefore, attempts: failures, lease) }.value
        let shown = service.hidingSecrets(of: (error as? ServiceFailure)?.error ?? error)
        feed.send(.failed(shown))
        return shown
    }
}

extension SyncService {
    /// An error that quotes an answer, without the secrets of the requests.
    func hidingSecrets(of error: any Error) -> any Error {
        guard var error = error as? SyncError else { return error }
        error.message = hidingSecrets(in: error.message)
        return error
    }

    /// Does what rows need; no outcome has a secret in its words.
    func pushed(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        try await push(operations).map { outcome in
            switch outcome {
            case .rejected(let reason): .rejected(hidingSecrets(in: reason))
            case .unknown(let reason): .unknown(hidingSecrets(in: reason))
            case .applied, .conflict, .gone, .exists, .retry, .silent: outcome
            }
        }
    }
}
