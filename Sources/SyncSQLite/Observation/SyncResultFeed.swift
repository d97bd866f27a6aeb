import Foundation
import SyncCore

/// Passes on the results of syncs to all who listen.
///
/// `@unchecked Sendable`: the variables are only touched while `lock` is held.
final class SyncResultFeed: @unchecked Sendable {
    private let lock = NSLock()
    private var listeners: [Int: AsyncStream<SyncResult>.Continuation] = [:]
    private var count = 0
    private var isFinished = false

    func results() -> AsyncStream<SyncResult> {
        AsyncStream { listener in
            let id: Int? = lock.withLock {
                guard !isFinished else { return nil }
                count += 1
                listeners[count] = listener
                return count
            }
            guard let id else { return listener.finish() }
            listener.onTermination = { [weak self] _ in self?.remove(id) }
        }
    }

    private func remove(_ id: Int) { _ = lock.withLock { listeners.removeValue(forKey: id) } }

    /// What changed nothing wakes nobody.
    func publish(_ result: SyncResult) {
        guard !result.isEmpty else { return }
        for listener in lock.withLock({ Array(listeners.values) }) { listener.yield(result) }
    }

    func finish() {
        let all = lock.withLock {
            isFinished = true
            return Array(listeners.values)
        }
        for listener in all { listener.finish() }
    }
}
