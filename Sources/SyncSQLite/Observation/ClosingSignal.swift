import Foundation

/// Tells what observes a store that it was closed.
///
/// `@unchecked Sendable`: the variables are only touched while `lock` is held.
final class ClosingSignal: @unchecked Sendable {
    private let lock = NSLock()
    private var listeners: [Int: @Sendable () -> Void] = [:]
    private var count = 0
    private var isClosed = false

    /// Calls `listener` once: when the store is closed, or now if it is.
    ///
    /// - Returns: What ``remove(_:)`` takes.
    func add(_ listener: @escaping @Sendable () -> Void) -> Int {
        let (id, isClosed) = lock.withLock {
            count += 1
            if !self.isClosed { listeners[count] = listener }
            return (count, self.isClosed)
        }
        if isClosed { listener() }
        return id
    }

    func remove(_ id: Int) { _ = lock.withLock { listeners.removeValue(forKey: id) } }

    func close() {
        let all = lock.withLock {
            isClosed = true
            defer { listeners = [:] }
            return Array(listeners.values)
        }
        for listener in all { listener() }
    }
}
