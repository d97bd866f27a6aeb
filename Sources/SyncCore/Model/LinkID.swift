/// Which link: the position of a ``Link`` in ``CompiledModel/links``.
package struct LinkID: Hashable, Comparable, Sendable {
    /// The position as it is stored: other modules read it without a call, which loops over millions of rows notice.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    package var index: Int { Int(number) }

    package static func < (left: LinkID, right: LinkID) -> Bool { left.number < right.number }
}
