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
    let start: RunState
    let patience: RetryBackoff
    /// The keys that lead to each value that is sent, by entity.
    let memberPaths: [String: [[String]]]
    let report = Locked(SyncReport())
    /// What was pulled last, of a service that has one cursor for all entities.
    let cursor = Locked<String?>(nil)
    private let feed: Feed<SyncEvent>
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

    func recordChanges(of entity: String, _ change: (inout SyncReport.Changes) -> Void) {
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
            } catch let failure as ServiceError where failure.isTransient {
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
        let shown = service.hidingSecrets(of: (error as? ServiceError)?.error ?? error)
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

/// The runs of an engine, one after the other.
actor EngineRunQueue {
    typealias Phases = @Sendable (EngineRun) async throws -> Void

    /// What a run is for.
    enum Kind {
        case sync
        case pull
        case push
        /// One answer or one change, which is nobody else's.
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

    /// The report of a run; of one of the same kind that is on its way already, which is then done once more, because what
    /// came meanwhile may have come too late for it.
    func join(
        _ kind: Kind, _ entities: [String], _ run: @escaping @Sendable () async throws -> SyncReport
    ) async throws -> SyncReport {
        while let other = current {
            if kind != .single, other.kind == kind, other.entities == entities {
                current?.isPendingAgain = true
                // That somebody cancelled theirs is no reason not to do this one.
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

/// How long a run waits for a service that fails: exponentially longer, by a random part (full jitter), or as long as the
/// service says; kept beyond the run.
actor RetryBackoff {
    private static let shortest = 0.5
    private static let longest = 300.0
    /// What a service asks for, and what an earlier run noted: not more than a day. A clock that was set back would else keep a
    /// store from its service for as long.
    private static let mostAsked = 86_400.0

    private static let advice =
        "try again then, or wait longer (EngineSettings.patience, --wait of syncdb), or not at all "
        + "(EngineSettings.earlierWaits, --now of syncdb)"

    private let settings: EngineSettings
    private let tell: @Sendable (SyncEvent) -> Void
    private var failures: Int
    private var tries = 0
    private var waited = 0.0
    private var notBefore: Date?
    /// Whether the service asked for that.
    private var isAsked = false

    init(_ settings: EngineSettings, failures: Int, tell: @escaping @Sendable (SyncEvent) -> Void) {
        self.settings = settings
        self.failures = failures
        self.tell = tell
    }

    func succeeded() { (failures, tries, notBefore, isAsked) = (0, 0, nil, false) }

    /// - Throws: The failure, if it takes too long.
    func wait(after failure: ServiceError) async throws {
        failures += 1
        tries += 1
        var seconds = min(Self.longest, Self.shortest * pow(2, Double(min(failures, 20)))) * settings.clock.random()
        isAsked = false
        if case .busy(let after?, _) = failure {
            seconds = min(after.seconds, Self.mostAsked)
            isAsked = seconds > 0
        }
        let until = settings.clock.now().addingTimeInterval(seconds)
        notBefore = until
        guard tries < settings.attempts, waited + seconds <= settings.patience.seconds else {
            guard isAsked, case .busy(_, let text) = failure else { throw failure }
            throw SyncError(
                .serviceFailure,
                "the service asks to wait until \(until.isoText): \(text); \(Self.advice)")
        }
        try await pause(seconds, failure.description)
    }

    /// - Parameters:
    ///   - reason: Why, in half a sentence.
    ///   - isAsked: Whether the service asked for it.
    /// - Throws: ``SyncError`` `serviceFailure`, if it takes too long.
    func wait(until date: Date, _ reason: String, isAsked: Bool = false) async throws {
        let seconds = date.timeIntervalSince(settings.clock.now())
        guard seconds > 0 else { return }
        // No service asked for more: the clock was set back since.
        guard seconds <= Self.mostAsked else { return }
        (notBefore, self.isAsked) = (date, isAsked)
        guard seconds <= settings.patience.seconds else {
            throw SyncError(
                .serviceFailure,
                "the service is left alone until \(date.isoText): \(reason); \(Self.advice)")
        }
        try await pause(seconds, reason)
        (notBefore, self.isAsked) = (nil, false)
    }

    /// Waits, if there is patience for that.
    ///
    /// - Parameter reason: Why, in half a sentence.
    func pauses(_ seconds: Double, _ reason: String) async throws -> Bool {
        guard waited + seconds <= settings.patience.seconds else { return false }
        if seconds > 0 { try await pause(seconds, reason) }
        return true
    }

    private func pause(_ seconds: Double, _ reason: String) async throws {
        waited += seconds
        tell(.waiting(.seconds(seconds), reason: reason))
        try await settings.clock.sleep(.milliseconds(Int64(seconds * 1000)))
    }

    /// What a run that fails leaves to the next one: until when the service is left alone, and how often it failed in a row, which
    /// is 0 where it asked for that.
    var debt: (notBefore: Int64?, failures: Int) {
        guard let notBefore else { return (nil, failures) }
        return (notBefore.milliseconds, isAsked ? 0 : max(1, failures))
    }
}

/// The pages of a list that a run went through: a list must have an end.
///
/// Rows that change while pages are read shift the others, so that a page may begin as the one before it did, or have its rows once more: it
/// is read on. Pages that go round in a circle have the same rows again and again, whatever tells the next one.
struct PageLoopDetector {
    private static let longest = 1_000_000
    /// So often a page comes back before it is a circle. A list that is read anew because its rows moved has each page three times at
    /// most.
    private static let mostReturns = 3

    private let name: String
    private(set) var page: String?
    private var seen: Set<String>
    /// How many pages had rows.
    private var count = 0
    /// A page to compare those behind it with, and until which page: every circle has one that stays for two rounds (Brent).
    private var mark: Int?
    private var markEnd = 1
    private var returns = 0

    /// - Parameters:
    ///   - name: What the list is of.
    ///   - page: Where to begin; nil for its first page.
    init(_ name: String, from page: String? = nil) {
        self.name = name
        self.page = page
        seen = page.map { [$0] } ?? []
    }

    /// Whether there is another page.
    ///
    /// - Parameters:
    ///   - next: What the page says that comes after it.
    ///   - ids: The rows of the page.
    /// - Throws: ``ServiceError`` `malformed` for pages that were there before.
    mutating func goes(on next: String?, after ids: [JSONValue]) throws -> Bool {
        guard let next else { return false }
        guard seen.insert(next).inserted else {
            throw ServiceError.malformed("its pages of \(name) go round in a circle: '\(next)'")
        }
        guard !isCircle(ids) else {
            throw ServiceError.malformed(
                "its pages of \(name) go round in a circle: the page that begins with \(ids.first ?? .null) came "
                    + "\(Self.mostReturns + 1) times")
        }
        guard seen.count < Self.longest else { throw ServiceError.malformed("its list of \(name) has no end") }
        page = next
        return true
    }

    private mutating func isCircle(_ ids: [JSONValue]) -> Bool {
        guard !ids.isEmpty else { return false }
        let rows = ids.hashValue
        count += 1
        if rows == mark { returns += 1 }
        if returns == Self.mostReturns { return true }
        if count == markEnd {
            markEnd *= 2
            if rows != mark { (mark, returns) = (rows, 0) }
        }
        return false
    }
}
