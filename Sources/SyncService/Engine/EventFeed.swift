import SyncCore

/// Hands events to whoever listens.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
        var count = 0
    }

    private let state = Locked(State())

    func stream() -> AsyncStream<SyncEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
            let number = state.withLock { state in
                state.count += 1
                state.listeners[state.count] = continuation
                return state.count
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        }
    }

    func send(_ event: SyncEvent) {
        for listener in state.value.listeners.values { listener.yield(event) }
    }

    deinit {
        for listener in state.value.listeners.values { listener.finish() }
    }
}
