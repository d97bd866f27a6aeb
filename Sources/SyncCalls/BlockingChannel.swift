import Foundation
import SyncCore

/// Passes values from a task that makes them to a thread that uses them, one at a time: the task goes on once its value
/// was taken, so that there is at most one that waits and one in use.
///
/// The thread may block, because it is one of a database's queue and not of those that run tasks. The task never does.
///
/// `@unchecked Sendable`: the variables are only touched while `condition` is held.
final class BlockingChannel<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: Value?
    private var giver: CheckedContinuation<Void, Never>?
    private var end: Result<Void, any Error>?
    private var isClosed = false

    // MARK: The task that gives

    /// Gives a value, and waits until it is taken.
    ///
    /// - Throws: `CancellationError` if nobody will take it.
    func put(_ value: Value) async throws {
        await withCheckedContinuation { continuation in
            let isRefused = condition.withLock {
                if isClosed || end != nil { return true }
                waiting = value
                giver = continuation
                condition.signal()
                return false
            }
            if isRefused { continuation.resume() }
        }
        if condition.withLock({ isClosed || end != nil }) { throw CancellationError() }
    }

    /// There are no more values, or none can be made. The first end counts.
    func finish(_ result: Result<Void, any Error>) {
        let giver = condition.withLock {
            if end == nil { end = result }
            if case .failure = result { waiting = nil }
            condition.signal()
            return waiting == nil ? takeGiver() : nil
        }
        giver?.resume()
    }

    // MARK: The thread that takes

    /// Waits for the next value; nil if there are no more.
    ///
    /// - Throws: What the values ended with.
    func take() throws -> Value? {
        let (value, giver) = try condition.withLock {
            while waiting == nil, end == nil { condition.wait() }
            guard let value = waiting else {
                try end?.get()
                return (Value?.none, CheckedContinuation<Void, Never>?.none)
            }
            waiting = nil
            return (value, takeGiver())
        }
        giver?.resume()
        return value
    }

    /// Nothing will be taken any more.
    func close() {
        let giver = condition.withLock {
            isClosed = true
            waiting = nil
            return takeGiver()
        }
        giver?.resume()
    }

    private func takeGiver() -> CheckedContinuation<Void, Never>? {
        defer { giver = nil }
        return giver
    }
}

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
