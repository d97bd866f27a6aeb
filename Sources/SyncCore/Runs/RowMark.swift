/// What the pages of a run said of a row, and what became of it.
package struct RowMark: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A page mentions it, if only by its id.
    package static let mentioned = RowMark(rawValue: 1)
    /// It was counted as inserted, updated or unchanged.
    package static let counted = RowMark(rawValue: 2)
    /// It was counted as inserted or updated.
    package static let written = RowMark(rawValue: 4)
    /// It was counted as inserted.
    package static let inserted = RowMark(rawValue: 32)
    /// It was counted as a root record.
    package static let root = RowMark(rawValue: 8)
    /// It was listed as one of the parent's.
    package static let listed = RowMark(rawValue: 16)
}
