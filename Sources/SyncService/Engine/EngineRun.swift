import Foundation
import SyncCore
import SyncStore

/// The state of one engine run, and the phases that need no outbox: pulls, reconciliation and deletions. ``OutboxRun``
/// has the other phases. Each phase is an extension in a separate file.
final class EngineRun: Sendable {
    let store: any PullStore
    let service: any SyncService
    let registration: EngineRegistration
    let configuration: SyncEngine.Configuration
    let entities: [String]
    let start: RunState
    let backoff: RetryBackoff
    let report = Locked(SyncReport())
    /// The cursor of the last pull, if the service has one cursor for all entities.
    let cursor = Locked<String?>(nil)
    let send: @Sendable (SyncEvent) -> Void
    private let heartbeat: Task<Void, Never>
    /// Whether the run sends requests. A run without requests does not wait for the stored delay, and leaves it as it
    /// is.
    private let sendsRequests: Bool
    /// The entities whose rows a pull of this run has listed completely.
    let listed = Locked<Set<String>>([])
    /// The entities that this run has pulled completely.
    let pulled = Locked<Set<String>>([])
    /// The entities whose reconciliation is finished: the rows that the service lacks are known.
    let reconciledEntities = Locked<Set<String>>([])

    init(
        _ store: any PullStore, _ service: any SyncService, _ registration: EngineRegistration,
        _ configuration: SyncEngine.Configuration, _ entities: [String], holder: String,
        sendsRequests: Bool = true, send: @escaping @Sendable (SyncEvent) -> Void
    ) async throws {
        self.store = store
        self.service = service
        self.registration = registration
        self.configuration = configuration
        self.entities = entities
        self.send = send
        self.sendsRequests = sendsRequests
        start = try await store.begin(holder: holder)
        backoff = RetryBackoff(configuration, failures: start.attempts) { event in
            guard case .waiting(let duration, let reason) = event else { return send(event) }
            send(.waiting(duration, reason: service.hidingSecrets(in: reason)))
        }
        heartbeat = Self.heartbeat(store, start.lease, configuration.clock)
        do {
            if sendsRequests, let notBefore = start.notBefore,
                configuration.backoffPolicy.includes(isRequestedByService: start.isRequestedByService)
            {
                try await backoff.wait(
                    until: Date(timeIntervalSince1970: Double(notBefore) / 1000),
                    start.isRequestedByService
                        ? "the service asked to wait" : "the service failed in an earlier engine run",
                    isRequestedByService: start.isRequestedByService)
            }
        } catch {
            throw await fail(error)
        }
    }

    var lease: EngineLease { start.lease }

    func recordChanges(of entity: String, _ change: (inout SyncReport.Changes) -> Void) {
        report.withLock { change(&$0[entity]) }
    }

    /// Starts a task that renews the lease regularly, because a request or a delay may take longer than the lease.
    private static func heartbeat(
        _ store: any PullStore, _ lease: EngineLease, _ clock: EngineClock
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
                    // The store is busy. The task tries again before the lease expires.
                }
            }
        }
    }

    /// Calls the service, and repeats the call after transient errors.
    func asking<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        while true {
            do {
                let response = try await body()
                await backoff.succeeded()
                return response
            } catch let failure as ServiceError where failure.isTransient {
                try await backoff.wait(after: failure)
            }
        }
    }

    /// Returns the outcome of a fetch; nil if it contains another row, or if there is none.
    func checked(_ response: FetchOutcome?, _ id: JSONValue, _ entity: String) throws -> FetchOutcome? {
        if case .found(let row)? = response, try !store.areSame(row.id, id, of: entity) { return nil }
        return response
    }

    // MARK: Finishing

    func finish() async throws -> SyncReport {
        heartbeat.cancel()
        let rest = service.backoff.map { configuration.clock.now().addingTimeInterval($0.seconds).clampedMilliseconds }
        let (notBefore, failures) = sendsRequests ? (rest, 0) : (start.notBefore, start.attempts)
        try await store.finish(
            entities.filter(pulled.value.contains), notBefore: notBefore, attempts: failures, lease)
        let report = report.value
        send(.finished(report))
        return report
    }

    /// Releases the lease, and stores the backoff for the next run. Committed changes stay.
    ///
    /// - Returns: The error to throw, without secrets.
    func fail(_ error: any Error) async -> any Error {
        heartbeat.cancel()
        let (notBefore, failures) = sendsRequests ? await backoff.debt : (start.notBefore, start.attempts)
        let (store, lease) = (store, lease)
        // A cancelled task cannot write to the store.
        try? await Task { try await store.finish([], notBefore: notBefore, attempts: failures, lease) }.value
        let shown = service.hidingSecrets(of: (error as? ServiceError)?.error ?? error)
        send(.failed(shown))
        return shown
    }
}

extension SyncService {
    /// Masks the secrets of requests in the message of a ``SyncError``, which may quote a response. Returns any other
    /// error unchanged.
    func hidingSecrets(of error: any Error) -> any Error {
        guard var error = error as? SyncError else { return error }
        error.message = hidingSecrets(in: error.message)
        return error
    }
}

/// A queue that executes the runs of an engine one at a time.
actor EngineRunQueue {
    typealias Phases = @Sendable (EngineRun, OutboxRun) async throws -> Void

    /// The kind of a run.
    enum Kind {
        case sync
        case pull
        case push
        /// A run for records or a change that the caller passed, or a reset. It never joins another run.
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

    /// Executes a run, or joins a run in progress of the same kind and entities. A joined run that succeeds is executed
    /// once more, because it may have missed local changes that were made while it was in progress.
    func join(
        _ kind: Kind, _ entities: [String], _ run: @escaping @Sendable () async throws -> SyncReport
    ) async throws -> SyncReport {
        while let other = current {
            if kind != .single, other.kind == kind, other.entities == entities {
                current?.isPendingAgain = true
                // The cancellation of the joined run does not cancel this call.
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

/// The delays after errors of the service: exponential with full jitter, or as `Retry-After` requires. At the end of a
/// failed run, the store keeps the current delay for the next run.
actor RetryBackoff {
    private static let shortest = 0.5
    private static let longest = 300.0
    /// The longest delay that a service may request, in seconds: a day. A stored delay that is longer shows that the
    /// clock of the device was set back.
    private static let mostAsked = 86_400.0

    private static let advice =
        "try again then, wait longer (SyncEngine.Configuration.retryTimeout, --wait of syncdb), or skip the wait "
        + "(SyncEngine.Configuration.backoffPolicy, --now of syncdb)"

    private let configuration: SyncEngine.Configuration
    private let send: @Sendable (SyncEvent) -> Void
    private var failures: Int
    private var tries = 0
    /// The number of consecutive pushes that applied no change and postponed some. Successful pulls do not end them.
    private var postponements = 0
    private var waited = 0.0
    private var notBefore: Date?
    /// Whether the service asked for the current delay.
    private var isRequestedByService = false

    init(_ configuration: SyncEngine.Configuration, failures: Int, send: @escaping @Sendable (SyncEvent) -> Void) {
        self.configuration = configuration
        self.failures = failures
        self.send = send
    }

    func succeeded() { (failures, tries, notBefore, isRequestedByService) = (0, 0, nil, false) }

    func changesApplied() { postponements = 0 }

    /// Waits before the next attempt.
    ///
    /// - Parameter isPostponement: Whether the service only postponed the changes of a push. The delay is then at least
    ///   the exponential delay, even if the service asks for less.
    /// - Throws: The failure, after the last attempt or if the run would wait longer than
    ///   ``SyncEngine/Configuration/retryTimeout``. If the service asked for the delay, ``SyncError``
    ///   `serviceUnavailable`, which states the end of the delay.
    func wait(after failure: ServiceError, isPostponement: Bool = false) async throws {
        if isPostponement { postponements += 1 }
        failures = max(failures + 1, isPostponement ? postponements : 0)
        tries = max(tries + 1, isPostponement ? postponements : 0)
        var seconds =
            min(Self.longest, Self.shortest * pow(2, Double(min(failures, 20)))) * configuration.clock.random()
        isRequestedByService = false
        if case .retryLater(let after?, _) = failure {
            let requested = min(max(0, after.seconds), Self.mostAsked)
            seconds = isPostponement ? max(seconds, requested) : requested
            isRequestedByService = requested > 0
        }
        let until = configuration.clock.now().addingTimeInterval(seconds)
        notBefore = until
        guard tries < configuration.maxAttempts, waited + seconds <= configuration.retryTimeout.seconds else {
            guard isRequestedByService, case .retryLater(_, let text) = failure else { throw failure }
            throw SyncError(
                .serviceUnavailable,
                "the service asks to wait until \(until.isoText): \(text); \(Self.advice)")
        }
        try await pause(seconds, failure.description)
    }

    /// Waits until a date. Returns at once if the date is past, or more than a day away.
    ///
    /// - Parameters:
    ///   - reason: The reason, as a clause.
    ///   - isRequestedByService: Whether the service asked for the delay.
    /// - Throws: ``SyncError`` `serviceUnavailable` if the run would wait longer than
    ///   ``SyncEngine/Configuration/retryTimeout`` in total.
    func wait(until date: Date, _ reason: String, isRequestedByService: Bool = false) async throws {
        let seconds = date.timeIntervalSince(configuration.clock.now())
        guard seconds > 0 else { return }
        // The clock of the device was set back, because no service may request such a long delay.
        guard seconds <= Self.mostAsked else { return }
        (notBefore, self.isRequestedByService) = (date, isRequestedByService)
        guard waited + seconds <= configuration.retryTimeout.seconds else {
            throw SyncError(
                .serviceUnavailable,
                "the engine must wait until \(date.isoText): \(reason); \(Self.advice)")
        }
        try await pause(seconds, reason)
        (notBefore, self.isRequestedByService) = (nil, false)
    }

    /// Waits, unless the run would wait longer than ``SyncEngine/Configuration/retryTimeout`` in total.
    ///
    /// - Parameter reason: The reason, as a clause.
    /// - Returns: False if the run would wait longer.
    func pauses(_ seconds: Double, _ reason: String) async throws -> Bool {
        guard waited + seconds <= configuration.retryTimeout.seconds else { return false }
        if seconds > 0 { try await pause(seconds, reason) }
        return true
    }

    private func pause(_ seconds: Double, _ reason: String) async throws {
        waited += seconds
        send(.waiting(.seconds(seconds), reason: reason))
        try await configuration.clock.sleep(.milliseconds(Int64(seconds * 1000)))
    }

    /// The delay that a failed run stores for the next run: its end in milliseconds since 1970, and the number of
    /// failures in a row. The end is nil for no delay. The number is 0 if the service asked for the delay.
    var debt: (notBefore: Int64?, failures: Int) {
        guard let notBefore else { return (nil, failures) }
        return (notBefore.clampedMilliseconds, isRequestedByService ? 0 : max(1, failures))
    }
}

/// A detector of lists whose pages repeat without end.
///
/// A page may repeat rows of the previous page, because rows that change during a pull move the other rows. Such a
/// repetition is not an error. In a loop, the same pages return again and again, even with new page tokens.
struct PageLoopDetector {
    /// The largest number of pages in a list.
    private static let longest = 1_000_000
    /// The number of times that a page must return to prove a loop. A pull reads a list at most three times if its rows
    /// move, so each page returns at most twice.
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

    /// Creates a detector for a list.
    ///
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
    /// - Throws: ``ServiceError`` `invalidResponse` if the pages form a loop, or if the list has too many pages.
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
