import Foundation
import SyncCore
import SyncStore

/// The state of one engine run. Each phase is an extension in a file.
final class EngineRun: Sendable {
    let store: any EngineStore
    let service: any SyncService
    let registration: EngineRegistration
    let settings: EngineSettings
    let entities: [String]
    let start: RunState
    let patience: RetryBackoff
    /// The key path of each field that is sent, by entity.
    let memberPaths: [String: [[String]]]
    let report = Locked(SyncReport())
    /// The cursor of the last pull, if the service has one cursor for all entities.
    let cursor = Locked<String?>(nil)
    private let feed: Feed<SyncEvent>
    private let heartbeat: Task<Void, Never>
    /// The entities whose rows this run has listed completely.
    let listed = Locked<Set<String>>([])
    /// The entities that this run has pulled completely.
    let pulled = Locked<Set<String>>([])
    /// The entities whose reconciliation is finished: the rows that the service lacks are known.
    let reconciledEntities = Locked<Set<String>>([])
    /// The entities with changes of rows that the service does not have any more.
    let entitiesWithMissingRows = Locked<Set<String>>([])
    /// The in-doubt requests that the service rejected in this run. The next run sends them again.
    let openRequests = Locked<Set<Int64>>([])
    /// The requests whose new rows this run has looked for. The service accepted them without returning the row.
    let lookedFor = Locked<Set<Int64>>([])
    /// The in-doubt creates that wait for the pull: it may return a tombstone of the row.
    let heldBack = Locked<Set<Int64>>([])

    init(
        _ store: any EngineStore, _ service: any SyncService, _ registration: EngineRegistration,
        _ settings: EngineSettings, _ entities: [String], _ feed: Feed<SyncEvent>, holder: String
    ) async throws {
        self.store = store
        self.service = service
        self.registration = registration
        self.settings = settings
        self.entities = entities
        self.feed = feed
        memberPaths = store.memberPaths
        start = try await store.begin(registration, holder: holder)
        patience = RetryBackoff(settings, failures: start.attempts) { event in
            guard case .waiting(let duration, let reason) = event else { return feed.send(event) }
            feed.send(.waiting(duration, reason: service.hidingSecrets(in: reason)))
        }
        heartbeat = Self.heartbeat(store, start.lease, settings.clock)
        do {
            if let notBefore = start.notBefore, settings.earlierWaits.includes(isAsked: start.isRequestedByService) {
                try await patience.wait(
                    until: Date(timeIntervalSince1970: Double(notBefore) / 1000),
                    start.isRequestedByService
                        ? "the service asked to wait" : "the service failed in an earlier engine run",
                    isAsked: start.isRequestedByService)
            }
        } catch {
            throw await fail(error)
        }
    }

    var lease: EngineLease { start.lease }

    func send(_ event: SyncEvent) { feed.send(event) }

    func recordChanges(of entity: String, _ change: (inout SyncReport.Changes) -> Void) {
        report.withLock { change(&$0.entities[entity, default: .init()]) }
    }

    /// Renews the lease while a request or a delay takes longer than the lease.
    private static func heartbeat(
        _ store: any EngineStore, _ lease: EngineLease, _ clock: EngineClock
    ) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                do { try await clock.beat() } catch { return }
                do {
                    try await store.renew(lease)
                } catch let error as SyncError where error.code == .engineBusy {
                    // The next transaction of the run throws the error.
                    return
                } catch {
                    // The store is busy. The next beat comes before the lease expires.
                }
            }
        }
    }

    /// Calls the service, and repeats the call after transient errors.
    func asking<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        while true {
            do {
                let answer = try await body()
                await patience.succeeded()
                return answer
            } catch let failure as ServiceError where failure.isTransient {
                try await patience.wait(after: failure)
            }
        }
    }

    // MARK: Finishing

    func finish() async throws -> SyncReport {
        heartbeat.cancel()
        let rest = service.backoff.map { settings.clock.now().addingTimeInterval($0.seconds).milliseconds }
        try await store.finish(entities.filter(pulled.value.contains), notBefore: rest, attempts: 0, lease)
        let report = report.value
        feed.send(.finished(report))
        return report
    }

    /// Releases the lease, and stores the backoff for the next run. Committed changes stay.
    func fail(_ error: any Error) async -> any Error {
        heartbeat.cancel()
        let (notBefore, failures) = await patience.debt
        let (store, lease) = (store, lease)
        // A cancelled task cannot write to the store.
        try? await Task { try await store.finish([], notBefore: notBefore, attempts: failures, lease) }.value
        let shown = service.hidingSecrets(of: (error as? ServiceError)?.error ?? error)
        feed.send(.failed(shown))
        return shown
    }
}

extension SyncService {
    /// Returns the error without the secrets of the requests, which a response may repeat.
    func hidingSecrets(of error: any Error) -> any Error {
        guard var error = error as? SyncError else { return error }
        error.message = hidingSecrets(in: error.message)
        return error
    }

    /// Pushes changes. The reasons of the outcomes contain no secrets.
    func pushed(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        try await push(operations).map { outcome in
            switch outcome {
            case .rejected(let reason): .rejected(hidingSecrets(in: reason))
            case .unknown(let reason): .unknown(hidingSecrets(in: reason))
            case .applied, .conflict, .notFound, .alreadyExists, .retry, .silent: outcome
            }
        }
    }
}

/// The runs of an engine, one at a time.
actor EngineRunQueue {
    typealias Phases = @Sendable (EngineRun) async throws -> Void

    /// The kinds of runs.
    enum Kind {
        case sync
        case pull
        case push
        /// A run with its own records or change. It never joins another run.
        case single
    }

    private struct Current {
        let kind: Kind
        let entities: [String]
        let task: Task<SyncReport, any Error>
        var isPendingAgain = false
    }

    private var current: Current?

    var isAnyOnItsWay: Bool { current != nil }

    /// Runs, or joins a run in progress of the same kind and entities. That run is then repeated, since local changes
    /// made meanwhile may have come too late for it.
    func join(
        _ kind: Kind, _ entities: [String], _ run: @escaping @Sendable () async throws -> SyncReport
    ) async throws -> SyncReport {
        while let other = current {
            if kind != .single, other.kind == kind, other.entities == entities {
                current?.isPendingAgain = true
                // The cancellation of the joined run does not cancel this one.
                do { return try await other.task.value } catch is CancellationError {
                    try Task.checkCancellation()
                    continue
                }
            }
            _ = await other.task.result
            try Task.checkCancellation()
        }
        let task = Task {
            defer { current = nil }
            var report = try await run()
            while current?.isPendingAgain == true {
                current?.isPendingAgain = false
                report = report.adding(try await run())
            }
            return report
        }
        current = Current(kind: kind, entities: entities, task: task)
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// The delays after errors of the service: exponential with full jitter, or as `Retry-After` says. The store keeps them
/// for the next run.
actor RetryBackoff {
    private static let shortest = 0.5
    private static let longest = 300.0
    /// The longest delay in seconds that a service may ask for, also in an earlier run: a day. If the clock was set
    /// back, the store would otherwise not sync for longer.
    private static let mostAsked = 86_400.0

    private static let advice =
        "try again then, wait longer (EngineSettings.patience, --wait of syncdb), or skip the wait "
        + "(EngineSettings.earlierWaits, --now of syncdb)"

    private let settings: EngineSettings
    private let send: @Sendable (SyncEvent) -> Void
    private var failures: Int
    private var tries = 0
    private var waited = 0.0
    private var notBefore: Date?
    /// Whether the service asked for the delay.
    private var isAsked = false

    init(_ settings: EngineSettings, failures: Int, send: @escaping @Sendable (SyncEvent) -> Void) {
        self.settings = settings
        self.failures = failures
        self.send = send
    }

    func succeeded() { (failures, tries, notBefore, isAsked) = (0, 0, nil, false) }

    /// Waits before the next attempt.
    ///
    /// - Throws: The failure, after the last attempt or if the delay exceeds `EngineSettings.patience`. If the service
    ///   asked for the delay, ``SyncError`` `serviceFailure` with its end.
    func wait(after failure: ServiceError) async throws {
        failures += 1
        tries += 1
        var seconds = min(Self.longest, Self.shortest * pow(2, Double(min(failures, 20)))) * settings.clock.random()
        isAsked = false
        if case .retryLater(let after?, _) = failure {
            seconds = min(after.seconds, Self.mostAsked)
            isAsked = seconds > 0
        }
        let until = settings.clock.now().addingTimeInterval(seconds)
        notBefore = until
        guard tries < settings.maxAttempts, waited + seconds <= settings.retryTimeout.seconds else {
            guard isAsked, case .retryLater(_, let text) = failure else { throw failure }
            throw SyncError(
                .serviceFailure,
                "the service asks to wait until \(until.isoText): \(text); \(Self.advice)")
        }
        try await pause(seconds, failure.description)
    }

    /// Waits until a date.
    ///
    /// - Parameters:
    ///   - reason: The reason, as a clause.
    ///   - isAsked: Whether the service asked for the delay.
    /// - Throws: ``SyncError`` `serviceFailure` if the delay exceeds `EngineSettings.patience`.
    func wait(until date: Date, _ reason: String, isAsked: Bool = false) async throws {
        let seconds = date.timeIntervalSince(settings.clock.now())
        guard seconds > 0 else { return }
        // The clock was set back: no service may ask for a longer delay.
        guard seconds <= Self.mostAsked else { return }
        (notBefore, self.isAsked) = (date, isAsked)
        guard seconds <= settings.retryTimeout.seconds else {
            throw SyncError(
                .serviceFailure,
                "the engine waits until \(date.isoText): \(reason); \(Self.advice)")
        }
        try await pause(seconds, reason)
        (notBefore, self.isAsked) = (nil, false)
    }

    /// Waits, unless the run would exceed `EngineSettings.patience`.
    ///
    /// - Parameter reason: The reason, as a clause.
    /// - Returns: Whether it waited.
    func pauses(_ seconds: Double, _ reason: String) async throws -> Bool {
        guard waited + seconds <= settings.retryTimeout.seconds else { return false }
        if seconds > 0 { try await pause(seconds, reason) }
        return true
    }

    private func pause(_ seconds: Double, _ reason: String) async throws {
        waited += seconds
        send(.waiting(.seconds(seconds), reason: reason))
        try await settings.clock.sleep(.milliseconds(Int64(seconds * 1000)))
    }

    /// The delay that a failed run leaves to the next run: its end, and the number of failures in a row. The number is
    /// 0 if the service asked for the delay.
    var debt: (notBefore: Int64?, failures: Int) {
        guard let notBefore else { return (nil, failures) }
        return (notBefore.milliseconds, isAsked ? 0 : max(1, failures))
    }
}

/// Detects lists whose pages have no end.
///
/// A page may begin like the page before it, or repeat its rows, because rows that change during a pull shift the
/// others. That is no error. Pages in a loop repeat the same rows again and again, whatever the page tokens are.
struct PageLoopDetector {
    private static let longest = 1_000_000
    /// The number of returns of one page that make a loop. A list that is read again because its rows moved repeats
    /// each page three times at most.
    private static let mostReturns = 3

    private let name: String
    private(set) var page: String?
    private var seen: Set<String>
    /// The number of pages with rows.
    private var count = 0
    /// The hash of the page that later pages are compared with, and the page count at which it is replaced (Brent's
    /// algorithm).
    private var savedPage: Int?
    private var savedPageEnd = 1
    private var returns = 0

    /// - Parameters:
    ///   - name: The name of the list for errors.
    ///   - page: The page to begin with; nil for the first page.
    init(_ name: String, from page: String? = nil) {
        self.name = name
        self.page = page
        seen = page.map { [$0] } ?? []
    }

    /// Moves to the next page, and returns whether there is one.
    ///
    /// - Parameters:
    ///   - next: The token of the next page; nil after the last page.
    ///   - ids: The IDs of the rows of the page.
    /// - Throws: ``ServiceError`` `invalidResponse` if the pages repeat.
    mutating func hasNext(_ next: String?, after ids: [JSONValue]) throws -> Bool {
        guard let next else { return false }
        guard seen.insert(next).inserted else {
            throw ServiceError.invalidResponse("its pages of \(name) form a loop: '\(next)'")
        }
        guard !isCircle(ids) else {
            throw ServiceError.invalidResponse(
                "its pages of \(name) form a loop: the page that begins with \(ids.first ?? .null) came "
                    + "\(Self.mostReturns + 1) times")
        }
        guard seen.count < Self.longest else {
            throw ServiceError.invalidResponse("its list of \(name) has more than \(Self.longest) pages")
        }
        page = next
        return true
    }

    private mutating func isCircle(_ ids: [JSONValue]) -> Bool {
        guard !ids.isEmpty else { return false }
        let rows = ids.hashValue
        count += 1
        if rows == savedPage { returns += 1 }
        if returns == Self.mostReturns { return true }
        if count == savedPageEnd {
            savedPageEnd *= 2
            if rows != savedPage { (savedPage, returns) = (rows, 0) }
        }
        return false
    }
}
