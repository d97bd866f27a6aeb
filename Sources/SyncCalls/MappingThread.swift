import Foundation

/// A thread that maps payloads, one per processor. Mapping does not pause: on one of the few threads that run tasks it would delay
/// all other tasks.
package actor MappingThread {
    private static let all = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount)).map { _ in MappingThread() }
    private static let load = Load(count: all.count)

    private let executor = MappingExecutor()

    /// The queue of the thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Whether the caller runs on such a thread.
    package static var isCurrent: Bool { MappingExecutor.isCurrent }

    /// Does work on the thread that has least to do, and waits for it without a thread of its own.
    static func run<Result: Sendable>(_ work: @Sendable () throws -> Result) async throws -> Result {
        try await begin { _ in try work() }
    }

    /// Begins work on the thread that has least to do. While the work waits for others, the thread does other work.
    static func begin<Result: Sendable>(
        _ work: @Sendable (isolated MappingThread) async throws -> Result
    ) async throws -> Result {
        let index = load.take()
        defer { load.give(back: index) }
        return try await work(all[index])
    }

    /// How much each thread has to do.
    ///
    /// `@unchecked Sendable`: the variable is only touched while `lock` is held.
    private final class Load: @unchecked Sendable {
        private let lock = NSLock()
        private var counts: [Int]

        init(count: Int) { counts = Array(repeating: 0, count: count) }

        func take() -> Int {
            lock.withLock {
                let index = counts.indices.min { counts[$0] < counts[$1] } ?? 0
                counts[index] += 1
                return index
            }
        }

        func give(back index: Int) { lock.withLock { counts[index] -= 1 } }
    }
}

/// Runs the jobs of an actor on a queue of their own, in the tasks that they are of.
private final class MappingExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue: DispatchQueue

    init() {
        queue = DispatchQueue(label: "Sync.mapping")
        queue.setSpecific(key: Self.key, value: true)
    }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    func enqueue(_ job: UnownedJob) {
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
