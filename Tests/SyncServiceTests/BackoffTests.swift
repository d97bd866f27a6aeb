import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The backoff of a run while the service fails, by a clock that advances only during sleeps.
@Suite("Backoff")
struct BackoffTests {
    /// A clock that records the pauses.
    private final class TestClock: @unchecked Sendable {
        private let lock = NSLock()
        private var time = Date(timeIntervalSince1970: 1_795_435_200)
        private var pauses: [Double] = []
        private var numbers: SeededNumbers?
        private(set) var drawn: [Double] = []

        /// - Parameter seed: Nil for the longest possible pauses.
        init(seed: UInt64? = nil) { numbers = seed.map { SeededNumbers(state: $0) } }

        var now: Date { lock.withLock { time } }
        func pass(_ seconds: Double) { lock.withLock { time += seconds } }

        func sleep(_ duration: Duration) {
            lock.withLock {
                pauses.append(duration.seconds)
                time += duration.seconds
            }
        }

        func random() -> Double {
            lock.withLock {
                let number = numbers.map { numbers in
                    var numbers = numbers
                    let number = Double.random(in: 0...1, using: &numbers)
                    self.numbers = numbers
                    return number
                }
                drawn.append(number ?? 1)
                return number ?? 1
            }
        }

        /// Returns the pauses since the last call.
        func takePauses() -> [Double] {
            lock.withLock {
                defer { pauses = [] }
                return pauses
            }
        }
    }

    private let service = InMemoryService()

    private func configuration(_ clock: TestClock, attempts: Int) -> SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.clock.now = { clock.now }
        configuration.clock.sleep = { clock.sleep($0) }
        configuration.clock.random = { clock.random() }
        configuration.maxAttempts = attempts
        configuration.retryTimeout = .seconds(1_000_000)
        return configuration
    }

    private func fail(_ device: Device) async {
        await service.setFault { _, _ in .failsBeforeApply }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.code == .serviceUnavailable)
    }

    private static let longest: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]

    @Test("The delay doubles with each failure, up to five minutes")
    func delayDoubles() async throws {
        let clock = TestClock()
        await fail(try Device(service, configuration(clock, attempts: 12)))
        #expect(clock.takePauses() == Self.longest)
        #expect(await service.requests.count == 12)
    }

    @Test("The delay is a random part of the maximum, so that devices do not retry together", arguments: 1...20)
    func fullJitter(_ seed: Int) async throws {
        let clock = TestClock(seed: UInt64(seed))
        await fail(try Device(service, configuration(clock, attempts: 12)))
        let pauses = clock.takePauses()
        #expect(pauses.count == Self.longest.count)
        for (pause, (longest, part)) in zip(pauses, zip(Self.longest, clock.drawn)) {
            #expect((0...longest).contains(pause))
            // Pauses are in milliseconds.
            #expect(abs(pause - longest * part) < 0.002)
        }
        #expect(Set(clock.drawn).count > 5)
    }

    @Test("Backoff continues from the previous run and ends when the service answers")
    func backoffIsStored() async throws {
        let clock = TestClock()
        let configuration = self.configuration(clock, attempts: 3)
        let device = try Device(service, configuration)
        await fail(device)
        #expect(clock.takePauses() == [1, 2])
        let until = clock.now.addingTimeInterval(4)
        #expect(
            try await device.rows("SELECT attempts, not_before FROM sync_engine") == ["3 \(until.clampedMilliseconds)"])
        // Another process waits for the rest of the delay first, and then for longer than the first process.
        await service.deleteRequests()
        clock.pass(1)
        await fail(try Device(device.stack, service, configuration))
        #expect(clock.takePauses() == [3, 8, 16])
        #expect(await service.requests.count == 3)
        #expect(try await device.rows("SELECT attempts FROM sync_engine") == ["6"])
        // When the service answers again, there is no delay.
        clock.pass(1000)
        await service.setFault(nil)
        try await Device(device.stack, service, configuration).engine.sync()
        #expect(clock.takePauses() == [])
        #expect(try await device.rows("SELECT attempts, not_before FROM sync_engine") == ["0 nil"])
        await fail(device)
        #expect(clock.takePauses() == [1, 2])
    }

    @Test("Backoff starts over after a successful response within a run")
    func backoffStartsOver() async throws {
        let clock = TestClock()
        await service.setFault { _, number in
            // Each entity is pulled after two failures.
            number % 3 == 0 ? nil : .failsBeforeApply
        }
        let device = try Device(service, configuration(clock, attempts: 3))
        try await device.engine.sync()
        #expect(clock.takePauses() == [1, 2, 1, 2, 1, 2])
    }

    /// A service that postpones all changes.
    private struct PostponingService: InMemoryWrapper {
        let memory: InMemoryService
        let delay: Duration?

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
            operations.map { _ in .retry(after: delay) }
        }
    }

    @Test(
        "A run ends after the most attempts if the service only postpones its changes, whatever delay it asks for",
        arguments: [.zero, .milliseconds(1), nil] as [Duration?])
    func postponed(_ delay: Duration?) async throws {
        let clock = TestClock()
        let device = try Device(
            PostponingService(memory: service, delay: delay), configuration(clock, attempts: 4))
        try await device.stack.insert("Task", values: ["title": "a"])
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.code == .serviceUnavailable)
        #expect(clock.takePauses() == [1, 2, 4])
        // The change stays pending.
        #expect(try await device.engine.pendingChangeCount() == 1)
    }

    @Test("The waits for requests without a response count toward the total time that a run may wait")
    func totalWait() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .matchByContent,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
        let clock = TestClock()
        var configuration = self.configuration(clock, attempts: 100)
        configuration.clock.random = { 0 }
        configuration.inDoubtTimeout = .seconds(20)
        configuration.retryTimeout = .seconds(30)
        let device = try Device(service, configuration)
        for title in ["a", "b"] { try await device.stack.insert("Task", values: ["title": .string(title)]) }
        await service.setFault { request, _ in if case .push = request { .failsBeforeApply } else { nil } }
        // Each row fails by itself, because the service responds to pulls.
        try await device.engine.push()
        #expect(clock.takePauses().filter { $0 > 0 } == [20])
        #expect(await service.creations == 0)
        await service.setFault(nil)
        for _ in 1...2 { try await device.engine.sync() }
        #expect(await service.creations == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("The events of the engine include each delay and its reason")
    func waitingEvents() async throws {
        let clock = TestClock()
        let device = try Device(service, configuration(clock, attempts: 3))
        let events = device.engine.events
        await fail(device)
        var waits: [Duration] = []
        for await event in events {
            if case .waiting(let duration, let reason) = event {
                waits.append(duration)
                #expect(reason.contains("the connection was closed"))
            }
            if case .failed = event { break }
        }
        #expect(waits == [.seconds(1), .seconds(2)])
    }
}
