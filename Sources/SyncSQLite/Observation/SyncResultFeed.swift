import SyncCore

/// Passes on the results of syncs to all who listen.
final class SyncResultFeed: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<SyncResult>.Continuation] = [:]
        var count = 0
        var isFinished = false
    }

    private let state = Locked(State())

    func results() -> AsyncStream<SyncResult> {
        AsyncStream { listener in
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

    /// What changed nothing wakes nobody.
    func publish(_ result: SyncResult) {
        guard !result.isEmpty else { return }
        for listener in state.value.listeners.values { listener.yield(result) }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            return state.listeners.values
        }
        for listener in listeners { listener.finish() }
    }
}
