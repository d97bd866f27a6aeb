import Foundation

/// A value that one thread at a time reads or changes.
///
/// `Mutex` of the standard library does the same, but needs macOS 15.
///
/// `@unchecked Sendable`: the value is only touched while `lock` is held.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var current: Value

    package init(_ value: Value) { current = value }

    /// A copy of the value.
    package var value: Value { withLock { $0 } }

    /// Reads or changes the value. The body must not ask for the same lock.
    @discardableResult
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&current)
    }
}
