/// How a row that the payload speaks of stands to the store.
package enum RowPresence: UInt8, Sendable {
    /// Not stored and not (or not yet) to be inserted.
    case missing
    case stored
    /// To be inserted.
    case new

    // Other modules compare these at every row, where a synthesized operator is a call through the conformance.
    @inlinable
    package static func == (left: RowPresence, right: RowPresence) -> Bool {
        unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
    }

    @inlinable
    package static func != (left: RowPresence, right: RowPresence) -> Bool { !(left == right) }
}
