import Foundation

/// Hands events to whoever listens.
final class EventFeed: @unchecked Sendable {
    private let lock = NSLock()
    private var listeners: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
    private var count = 0

    func stream() -> AsyncStream<SyncEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
            let number = lock.withLock {
                count += 1
                listeners[count] = continuation
                return count
            }
            continuation.onTermination = { [weak self] _ in
                guard let self else { return }
                _ = self.lock.withLock { self.listeners.removeValue(forKey: number) }
            }
        }
    }

    func send(_ event: SyncEvent) {
        for listener in lock.withLock({ Array(listeners.values) }) { listener.yield(event) }
    }

    deinit {
        for listener in listeners.values { listener.finish() }
    }
}
