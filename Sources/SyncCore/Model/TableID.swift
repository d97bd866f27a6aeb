/// Which table: the position of an ``EntityTree`` in ``CompiledModel/trees``.
package struct TableID: Hashable, Comparable, Sendable {
    /// The position as it is stored: other modules read it without a call, which loops over millions of rows notice.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    @inlinable package var index: Int { Int(number) }

    package static func < (left: TableID, right: TableID) -> Bool { left.number < right.number }
}
