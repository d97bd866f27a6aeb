import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// How long a run waits for a service that fails, by a clock that goes on only while somebody sleeps.
@Suite("Backoff")
struct BackoffTests {
    /// A clock, and who slept.
    private final class TestClock: @unchecked Sendable {
        private let lock = NSLock()
        private var time = Date(timeIntervalSince1970: 1_795_435_200)
        private var pauses: [Double] = []
        private var numbers: SeededNumbers?
        private(set) var drawn: [Double] = []

        /// - Parameter seed: Nil for the longest pauses there are.
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

        /// The pauses since somebody asked last.
        func takePauses() -> [Double] {
            lock.withLock {
                defer { pauses = [] }
                return pauses
            }
        }
    }

    private let service = InMemoryService()

    private func settings(_ clock: TestClock, attempts: Int) -> EngineSettings {
        var settings = Device.settings
        settings.clock.now = { clock.now }
        settings.clock.sleep = { clock.sleep($0) }
        settings.clock.random = { clock.random() }
        settings.attempts = attempts
        settings.patience = .seconds(1_000_000)
        return settings
    }

    private func fail(_ device: Device) async {
        await service.setFault { _, _ in .dropBefore }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.code == .serviceFailure)
    }

    private static let longest: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]

    @Test("is twice as long each time, up to five minutes")
    func grows() async throws {
        let clock = TestClock()
        await fail(try Device(service, settings(clock, attempts: 12)))
        #expect(clock.takePauses() == Self.longest)
        #expect(await service.requests.count == 12)
    }

    @Test("is a random part of that, down to nothing, so that devices do not come back together", arguments: 1...20)
    func jitter(_ seed: Int) async throws {
        let clock = TestClock(seed: UInt64(seed))
        await fail(try Device(service, settings(clock, attempts: 12)))
        let pauses = clock.takePauses()
        #expect(pauses.count == Self.longest.count)
        for (pause, (longest, part)) in zip(pauses, zip(Self.longest, clock.drawn)) {
            #expect((0...longest).contains(pause))
            // Pauses are in milliseconds.
            #expect(abs(pause - longest * part) < 0.002)
        }
        #expect(Set(clock.drawn).count > 5)
    }

    @Test("goes on where the run before left it, and is over when the service answers")
    func kept() async throws {
        let clock = TestClock()
        let settings = self.settings(clock, attempts: 3)
        let device = try Device(service, settings)
        await fail(device)
        #expect(clock.takePauses() == [1, 2])
        let until = clock.now.addingTimeInterval(4)
        #expect(
            try await device.rows("SELECT attempts, not_before FROM sync_engine") == ["3 \(until.milliseconds)"])
        // Another process, at once: it waits for the rest before it asks, and longer than the first one did.
        await service.deleteRequests()
        clock.pass(1)
        await fail(try Device(device.stack, service, settings))
        #expect(clock.takePauses() == [3, 8, 16])
        #expect(await service.requests.count == 3)
        #expect(try await device.rows("SELECT attempts FROM sync_engine") == ["6"])
        // Later, when the service answers again, nobody waits.
        clock.pass(1000)
        await service.setFault(nil)
        try await Device(device.stack, service, settings).engine.sync()
        #expect(clock.takePauses() == [])
        #expect(try await device.rows("SELECT attempts, not_before FROM sync_engine") == ["0 nil"])
        await fail(device)
        #expect(clock.takePauses() == [1, 2])
    }

    @Test("begins anew after an answer in the midst of a run")
    func inTheMidst() async throws {
        let clock = TestClock()
        await service.setFault { _, number in
            // Each entity is pulled, after it failed twice.
            number % 3 == 0 ? nil : .dropBefore
        }
        let device = try Device(service, settings(clock, attempts: 3))
        try await device.engine.sync()
        #expect(clock.takePauses() == [1, 2, 1, 2, 1, 2])
    }

    @Test("is told to whoever listens")
    func events() async throws {
        let clock = TestClock()
        let device = try Device(service, settings(clock, attempts: 3))
        let events = device.engine.events
        await fail(device)
        var waits: [Duration] = []
        for await event in events {
            if case .waiting(let duration, let reason) = event {
                waits.append(duration)
                #expect(reason.contains("the connection broke"))
            }
            if case .failed = event { break }
        }
        #expect(waits == [.seconds(1), .seconds(2)])
    }
}
