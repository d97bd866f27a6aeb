import Foundation
import GRDB
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Runs that are cancelled at a request: at each request in full length.
@Suite("A cancelled run")
struct CancelledRunTests {
    /// The state of the request when the run is cancelled.
    enum Moment: CaseIterable {
        /// The run waits for a request that the service has not carried out.
        case before
        /// The run waits for the answer to a request that the service has carried out.
        case after
        /// The run receives the answer.
        case unnoticed
    }

    private static func service(_ idempotency: ServiceCapabilities.CreateIdempotency) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: idempotency,
                supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 2))
    }

    @Test(
        "A cancelled run throws, releases its lease, and the next run loses and repeats nothing",
        arguments: Moment.allCases, [.idempotencyKey, .matchByContent] as [ServiceCapabilities.CreateIdempotency])
    func cancelledAtEachRequest(_ moment: Moment, _ idempotency: ServiceCapabilities.CreateIdempotency) async throws {
        var number = 1
        while try await cancel(at: number, moment, Self.service(idempotency)) {
            number += LongTests.count(3, many: 1)
            try #require(number < 100)
        }
        // Pages of three entities, and batches of four changes.
        #expect(number > 5)
    }

    /// - Returns: Whether the run made that many requests.
    private func cancel(at number: Int, _ moment: Moment, _ service: InMemoryService) async throws -> Bool {
        await service.set("Project", 1, ["name": "p"])
        for id in 1...4 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "project_id": 1]) }
        let stack = try Device(service).stack
        try await Device(stack, service).engine.sync()
        for number in 1...2 { try await stack.insert("Task", values: ["title": .string("here \(number)")]) }
        try await stack.write { db in
            try db.execute(sql: "UPDATE Task SET title = 'mine' WHERE remoteID = 1")
            try db.execute(sql: "DELETE FROM Task WHERE remoteID = 2")
        }
        await service.set("Task", 5, ["title": "late"])
        await service.remove("Task", 3)

        let gate = Gate(number, moment)
        let device = try Device(stack, WaitingService(inner: service, gate: gate))
        let run = Task { try await device.engine.sync() }
        let isOver = Task {
            _ = await run.result
            await gate.end()
        }
        let isReached = await gate.isReached()
        run.cancel()
        await isOver.value
        if isReached {
            await #expect(throws: CancellationError.self, "\(moment) \(number)") { try await run.value }
        }
        #expect(try await device.rows("SELECT holder, until FROM sync_lease") == [" 0"], "\(moment) \(number)")

        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let again = try Device(stack, service, configuration)
        try await again.engine.sync()
        let titles = ["here 1", "here 2", "late", "mine", "t4"]
        #expect(try await again.rows("SELECT title FROM Task ORDER BY title") == titles, "\(moment) \(number)")
        let there = await service.contents(of: "Task").values.compactMap { $0["title"] }
        #expect(Set(there) == Set(titles.map { .string($0) }) && there.count == titles.count, "\(moment) \(number)")
        #expect(await service.creations == 2, "\(moment) \(number)")
        #expect(try await again.leftovers() == [], "\(moment) \(number)")
        #expect(try await again.engine.conflicts().isEmpty, "\(moment) \(number)")
        return isReached
    }

    @Test("A cancelled run does not wait for the answer to its request", .timeLimit(.minutes(60)))
    func cancelledDuringRequest() async throws {
        let port = try QuietPort(isRefusing: false)
        // A run that ignores the cancellation waits for that long.
        let transport = DefaultTransport(timeout: .seconds(3600))
        let device = try Device(RESTService(baseURL: port.url, transport: transport), entities: ["Task"])
        let run = Task { try await device.engine.sync() }
        Task {
            _ = await run.result
            port.giveUp()
        }
        await port.connection()
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(try await device.rows("SELECT holder, until FROM sync_lease") == [" 0"])
    }

    @Test("A cancelled run does not wait for the end of its backoff")
    func cancelledDuringBackoff() async throws {
        let service = InMemoryService()
        await service.setFault { _, _ in .failsBeforeApply }
        var configuration = Device.configuration
        let gate = Gate(1, .before)
        configuration.clock.sleep = { _ in try await gate.pass {} }
        let device = try Device(service, configuration)
        let run = Task { try await device.engine.sync() }
        #expect(await gate.isReached())
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        // The backoff is kept.
        #expect(try await device.rows("SELECT attempts, not_before IS NULL FROM sync_engine") == ["1 0"])
        await service.setFault(nil)
        configuration.clock = Device.configuration.clock
        try await Device(device.stack, service, configuration).engine.sync()
    }
}

/// Holds one of several calls until its task is cancelled.
private actor Gate {
    private let number: Int
    private let moment: CancelledRunTests.Moment
    private var count = 0
    private var isOpen: Bool?
    private var watcher: CheckedContinuation<Bool, Never>?

    init(_ number: Int, _ moment: CancelledRunTests.Moment) { (self.number, self.moment) = (number, moment) }

    func pass<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        count += 1
        guard count == number else { return try await body() }
        if moment == .before { try await hold() }
        let answer = try await body()
        if moment != .before { try await hold() }
        return answer
    }

    /// Returns when the task is cancelled; nothing else ends it.
    private func hold() async throws {
        tell(true)
        do {
            while true { try await Task.sleep(for: .seconds(3600)) }
        } catch {
            if moment != .unnoticed { throw error }
        }
    }

    /// Reports that no more calls will come.
    func end() { tell(false) }

    private func tell(_ isReached: Bool) {
        guard isOpen == nil else { return }
        isOpen = isReached
        watcher?.resume(returning: isReached)
        watcher = nil
    }

    /// Returns whether a call is held; waits until that is decided.
    func isReached() async -> Bool {
        if let isOpen { return isOpen }
        return await withCheckedContinuation { watcher = $0 }
    }
}

/// A service behind a gate.
private struct WaitingService: SyncService {
    let inner: InMemoryService
    let gate: Gate

    var capabilities: ServiceCapabilities { inner.capabilities }
    var identity: String { inner.identity }

    func pull(_ request: PullRequest) async throws -> PullPage { try await gate.pass { try await inner.pull(request) } }
    func list(of entity: String, page: String?) async throws -> ListPage {
        try await gate.pass { try await inner.list(of: entity, page: page) }
    }
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await gate.pass { try await inner.fetch(ids, of: entity) }
    }
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        try await gate.pass { try await inner.push(operations) }
    }
}
