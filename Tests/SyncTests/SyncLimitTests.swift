import Foundation
import Sync
import SyncStore
import Testing

/// The limits for the number of syncs at the same time.
@Suite("Limits of concurrent syncs")
struct SyncLimitTests {
    /// Payload streams that wait until the test opens them.
    private actor Gate {
        private(set) var started = 0
        private(set) var most = 0
        private var running = 0
        private var isOpen = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        func enter() async {
            started += 1
            running += 1
            most = max(most, running)
            if !isOpen { await withCheckedContinuation { waiters.append($0) } }
        }

        func leave() { running -= 1 }

        func open() {
            isOpen = true
            for waiter in waiters { waiter.resume() }
            waiters = []
        }

        /// A stream that enters the gate when it is read.
        nonisolated func stream(_ json: String) -> AsyncStream<Data> {
            AsyncStream { await self.next(json) }
        }

        /// Returns the text at the first call, and nil at the second call.
        private func next(_ json: String) async -> Data? {
            guard started == 0 else {
                leave()
                return nil
            }
            await enter()
            return Data(json.utf8)
        }
    }

    /// Waits until a condition is true.
    private func wait(until condition: () async -> Bool) async {
        while await !condition() { await Task.yield() }
    }

    private func sync(_ id: Int, _ limit: SyncLimit, _ gate: Gate) -> Task<Int, any Error> {
        Task {
            try await limit.run {
                await gate.enter()
                await gate.leave()
                return id
            }
        }
    }

    @Test("No more jobs than the limit run at the same time, and all of them run", arguments: [1, 2, 5])
    func jobs(_ maximum: Int) async throws {
        let (limit, gate) = (SyncLimit(), Gate())
        limit.maximum = maximum
        let jobs = (0..<20).map { sync($0, limit, gate) }
        await wait { await gate.started == maximum }
        for _ in 0..<100 { await Task.yield() }
        #expect(await gate.started == maximum)
        await gate.open()
        for (index, job) in jobs.enumerated() { #expect(try await job.value == index) }
        #expect(await gate.most <= maximum)
    }

    @Test("A job that is cancelled while it waits does not run, and the next one does")
    func cancelledWaiter() async throws {
        let (limit, gate) = (SyncLimit(), Gate())
        limit.maximum = 1
        let first = sync(1, limit, gate)
        await wait { await gate.started == 1 }
        let second = sync(2, limit, gate)
        let third = sync(3, limit, gate)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        await gate.open()
        #expect(try await first.value == 1)
        #expect(try await third.value == 3)
        #expect(await gate.started == 2)
    }

    @Test("A job that throws frees its place")
    func failingJob() async throws {
        struct Failure: Error {}
        let limit = SyncLimit()
        limit.maximum = 1
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await limit.run { throw Failure() } }
        }
        #expect(try await limit.run { 1 } == 1)
    }

    @Test("Waiting jobs start when the limit is raised or removed", arguments: [3, nil])
    func raisedLimit(_ raised: Int?) async throws {
        let (limit, gate) = (SyncLimit(), Gate())
        limit.maximum = 1
        let jobs = (0..<3).map { sync($0, limit, gate) }
        await wait { await gate.started == 1 }
        limit.maximum = raised
        await wait { await gate.started == 3 }
        await gate.open()
        for job in jobs { _ = try await job.value }
    }

    @Test("A stack runs no more syncs at the same time than its limit")
    func syncsOfStack() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        stack.maxConcurrentSyncs = 1
        let gate = Gate()
        let blocked = Task {
            try await Sync.changes(.buffers(gate.stream(#"[{"id":1}]"#)), inEntity: "User", stack: stack)
        }
        await wait { await gate.started == 1 }
        let waiting = Task {
            try await Sync.changes(
                [["id": 2]], inEntity: "User", stack: stack, operations: [.insert])
        }
        // Another stack is not affected, and neither are single rows and reads.
        let other = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes([["id": 3]], inEntity: "User", stack: other)
        #expect(try await other.count("User") == 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await gate.open()
        #expect(try await blocked.value["User"].insertedCount == 1)
        #expect(try await stack.count("User") == 1)
    }

    @Test("The limit of the process can be read and removed")
    func processLimit() {
        #expect(Sync.maxConcurrentSyncs == nil)
        // Other tests run in this process, so the limit is large.
        Sync.maxConcurrentSyncs = 100_000
        #expect(Sync.maxConcurrentSyncs == 100_000)
        Sync.maxConcurrentSyncs = nil
        #expect(Sync.maxConcurrentSyncs == nil)
    }
}
