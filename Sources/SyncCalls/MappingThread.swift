import Foundation
import SyncCore

/// A thread that maps payloads, one per processor. Mapping does not pause: on one of the few threads that run tasks it would delay
/// all other tasks.
package actor MappingThread {
    private static let all = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount)).map { _ in MappingThread() }
    /// How much each thread has to do.
    private static let loads = Locked(all.map { _ in 0 })

    private let executor = MappingExecutor()

    /// The queue of the thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Whether the caller runs on such a thread.
    package static var isCurrent: Bool { MappingExecutor.isCurrent }

    /// Does work on the thread that has least to do, and waits for it without a thread of its own.
    package static func run<Result: Sendable>(_ work: @Sendable () throws -> Result) async throws -> Result {
        try await begin { _ in try work() }
    }

    /// Begins work on the thread that has least to do. While the work waits for others, the thread does other work.
    static func begin<Result: Sendable>(
        _ work: @Sendable (isolated MappingThread) async throws -> Result
    ) async throws -> Result {
        let index = loads.withLock { loads in
            let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[index] += 1
            return index
        }
        defer { loads.withLock { $0[index] -= 1 } }
        return try await work(all[index])
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
