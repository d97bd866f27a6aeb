import Foundation
import SyncCore

/// A channel that passes values from a task to a thread, one at a time.
///
/// The sending task suspends until the thread takes its value. So at most one value waits while the thread works on
/// another. The thread may block, because it belongs to a database queue and not to the thread pool of tasks. The task
/// never blocks.
///
/// `@unchecked Sendable`: the methods access the variables only while they hold the lock of `condition`.
final class BlockingChannel<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var pendingValue: Value?
    private var sender: CheckedContinuation<Void, Never>?
    private var end: Result<Void, any Error>?
    private var isClosed = false

    // MARK: Sending task

    /// Sends a value, and suspends until the thread takes it.
    ///
    /// - Throws: `CancellationError` if the channel is closed or finished.
    func send(_ value: Value) async throws {
        await withCheckedContinuation { continuation in
            let isRefused = condition.withLock {
                if isClosed || end != nil { return true }
                pendingValue = value
                sender = continuation
                condition.signal()
                return false
            }
            if isRefused { continuation.resume() }
        }
        if condition.withLock({ isClosed || end != nil }) { throw CancellationError() }
    }

    /// Ends the sequence of values, with or without an error. Only the first call sets the result.
    func finish(_ result: Result<Void, any Error>) {
        let sender = condition.withLock {
            if end == nil { end = result }
            if case .failure = result { pendingValue = nil }
            condition.signal()
            return pendingValue == nil ? removeSender() : nil
        }
        sender?.resume()
    }

    // MARK: Receiving thread

    /// Waits for the next value and returns it; nil at the end.
    ///
    /// - Throws: The error that the channel was finished with.
    func receive() throws -> Value? {
        let (value, sender) = try condition.withLock {
            while pendingValue == nil, end == nil { condition.wait() }
            guard let value = pendingValue else {
                try end?.get()
                return (Value?.none, CheckedContinuation<Void, Never>?.none)
            }
            pendingValue = nil
            return (value, removeSender())
        }
        sender?.resume()
        return value
    }

    /// Ends the receiving side. Drops a value that was not received, and resumes the sending task.
    func close() {
        let sender = condition.withLock {
            isClosed = true
            pendingValue = nil
            return removeSender()
        }
        sender?.resume()
    }

    private func removeSender() -> CheckedContinuation<Void, Never>? {
        defer { sender = nil }
        return sender
    }
}

/// A serial queue that maps payloads. There is one for each active processor.
///
/// Mapping does not suspend, so on the thread pool of tasks it would delay other tasks.
package actor MappingThread {
    private static let all = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount)).map { _ in MappingThread() }
    /// The number of running jobs of each thread, by its index in `all`.
    private static let loads = Locked(all.map { _ in 0 })

    private let executor = MappingExecutor()

    /// The executor that runs the jobs of this actor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Whether the caller runs on a mapping thread.
    package static var isCurrent: Bool { MappingExecutor.isCurrent }

    /// Runs a job on the thread with the fewest jobs. The caller suspends until the job ends.
    package static func run<Result: Sendable>(_ work: @Sendable () throws -> Result) async throws -> Result {
        try await begin { _ in try work() }
    }

    /// Runs an asynchronous job on the thread with the fewest jobs. While the job is suspended, the thread runs other
    /// jobs.
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

/// Runs the jobs of an actor on a dispatch queue.
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
