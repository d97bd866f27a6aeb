import Foundation

/// A value that one thread at a time reads or changes.
///
/// `Mutex` of the standard library does the same, but needs macOS 15.
///
/// `@unchecked Sendable`: the value is only touched while `lock` is held, and only sendable values leave it.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var current: Value

    package init(_ value: sending Value) { current = value }

    /// Reads or changes the value. The body must not ask for the same lock.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&current)
    }
}

extension Locked where Value: Sendable {
    /// A copy of the value.
    package var value: Value { withLock { $0 } }
}
