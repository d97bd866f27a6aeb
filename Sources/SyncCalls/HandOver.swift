import Foundation

/// Passes values from a task that makes them to a thread that uses them, one at a time: the task goes on once its value
/// was taken, so that there is at most one that waits and one in use.
///
/// The thread may block, because it is one of a database's queue and not of those that run tasks. The task never does.
///
/// `@unchecked Sendable`: the variables are only touched while `condition` is held.
final class HandOver<Value: Sendable>: @unchecked Sendable {
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
