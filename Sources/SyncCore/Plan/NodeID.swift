/// Which row of a ``RowBatch``: the position of its node in ``RowBatch/nodes``.
package struct NodeID: Hashable, Comparable, Sendable {
    /// The position as it is stored: other modules read it without a call, which loops over millions of rows notice.
    package let number: Int32

    @inlinable package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    @inlinable package var index: Int { Int(number) }

    package static func < (left: NodeID, right: NodeID) -> Bool { left.number < right.number }
}
