import Foundation
import Sync
import SyncCore
import SyncTesting
import Testing

@testable import SyncService

/// Options with the largest and smallest numbers. An overflow would end the process.
@Suite("The largest numbers in options")
struct LargestOptionTests {
    private static let longest = Duration.seconds(Int64.max)

    private func service(
        _ detection: ServiceCapabilities.DeletionDetection = .listing,
        assigns: ServiceCapabilities.IDAssignment = .server, batchSize: Int = 1,
        requests: Int = 1, idLength: Int? = nil, isAtomic: Bool = false
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: assigns, deletionDetection: detection,
                createIdempotency: assigns == .server ? .idempotencyKey : .clientID, supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: batchSize, maxConcurrentRequests: requests,
                generatedIDLength: idLength, pushesAtomically: isAtomic))
    }

    @Test("The longest durations are accepted, and the engine does not list the IDs again")
    func durations() async throws {
        let service = service()
        await service.set("Task", 1, ["title": "a"])
        var configuration = Device.configuration
        configuration.retryTimeout = Self.longest
        configuration.inDoubtTimeout = Self.longest
        configuration.reconciliationInterval = Self.longest
        let device = try Device(service, entities: ["Task"], configuration)
        try await device.engine.sync()
        await service.deleteRequests()
        try await device.engine.sync()
        #expect(await service.requests.allSatisfy { if case .ids = $0 { false } else { true } })
    }

    @Test("A delay of the longest duration is shortened to 31 years")
    func delay() async throws {
        let pauses = Locked<[Duration]>([])
        var configuration = Device.configuration
        configuration.retryTimeout = Self.longest
        configuration.clock.sleep = { pause in pauses.withLock { $0.append(pause) } }
        let backoff = RetryBackoff(configuration, failures: 0) { _ in }
        #expect(try await backoff.pauses(Self.longest.seconds, "a test"))
        #expect(pauses.value == [.seconds(1_000_000_000)])
        #expect((Self.longest * 10).seconds == 1e9 && Duration.seconds(Int64.min).seconds == -1e9)
    }

    @Test("A negative delay of a service counts as none")
    func negativeDelay() async throws {
        let backoff = RetryBackoff(Device.configuration, failures: 0) { _ in }
        try await backoff.wait(after: .retryLater(after: .seconds(Int64.min), "busy"))
        #expect(try await backoff.pauses(30, "a test"))
        #expect(try await !backoff.pauses(1, "a test"))
    }

    @Test("The longest timeout of a transport is accepted")
    func timeout() {
        _ = DefaultTransport(timeout: Self.longest, maxResponseSize: .max)
        _ = DefaultTransport(timeout: .zero, totalTimeout: Self.longest, maxResponseSize: .min)
        #expect(ResponseSizeLimit.seconds(of: nil, timeout: Self.longest) == 1e10)
        #expect(ResponseSizeLimit.seconds(of: .seconds(2), timeout: Self.longest) == 2)
    }

    @Test(
        "The largest and smallest numbers of a service that applies a push as a whole or sends several are accepted",
        arguments: [Int.min, 0, .max], [false, true])
    func numbers(_ number: Int, _ isAtomic: Bool) async throws {
        let service = service(.tombstones, batchSize: number, requests: number, isAtomic: isAtomic)
        let device = try Device(service, entities: ["Task"])
        for title in ["a", "b", "c"] { try await device.stack.insert("Task", values: ["title": .string(title)]) }
        try await device.engine.sync()
        #expect(await service.creations == 3)
        #expect(try await device.engine.pendingChangeCount() == 0)
    }

    @Test("The length of a generated ID is at least 1 and at most 255", arguments: [(Int.min, 1), (.max, 255)])
    func idLength(_ length: Int, _ count: Int) async throws {
        let service = service(.tombstones, assigns: .client, idLength: length)
        let schema = #"{"entities": {"Note": {"attributes": {"id": "string", "text": "string"}}}}"#
        let device = try Device(service, schema: schema, entities: ["Note"])
        try await device.stack.insert("Note", values: ["text": "a"])
        try await device.engine.sync()
        let ids = await service.contents(of: "Note").keys.map { $0 }
        #expect(ids.map { if case .string(let id) = $0 { id.count } else { 0 } } == [count])
    }
}
