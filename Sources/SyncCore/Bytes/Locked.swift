import Foundation

/// A value with exclusive access for one thread at a time.
///
/// `Mutex` of the standard library does the same, but needs macOS 15.
///
/// `@unchecked Sendable`: the value is only accessed while `lock` is held.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var current: Value

    package init(_ value: Value) { current = value }

    /// A copy of the value.
    package var value: Value { withLock { $0 } }

    /// Calls `body` with exclusive access to the value. `body` must not use the same lock.
    @discardableResult
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&current)
    }
}

// MARK: - Feed

/// A source that sends each element to all of its open streams.
package final class Feed<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var count = 0
        var isFinished = false
    }

    private let state = Locked(State())
    private let buffering: AsyncStream<Element>.Continuation.BufferingPolicy

    package init(buffering: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded) {
        self.buffering = buffering
    }

    /// Returns a stream of the elements that are sent after this call. The stream ends when the feed is finished or
    /// deallocated.
    package func stream() -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: buffering) { listener in
            let id: Int? = state.withLock { state in
                guard !state.isFinished else { return nil }
                state.count += 1
                state.listeners[state.count] = listener
                return state.count
            }
            guard let id else { return listener.finish() }
            listener.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners.removeValue(forKey: id) }
            }
        }
    }

    package func send(_ element: Element) {
        for listener in state.value.listeners.values { listener.yield(element) }
    }

    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            return state.listeners.values
        }
        for listener in listeners { listener.finish() }
    }

    deinit { finish() }
}
