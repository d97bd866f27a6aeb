package import SyncCore

/// The places of a link in the lists of the rows at its ends; nil where it has none.
package struct LinkPlaces: Equatable, Sendable {
    package var first: Int64?
    package var second: Int64?

    package init(first: Int64? = nil, second: Int64? = nil) {
        self.first = first
        self.second = second
    }

    package subscript(end: Link.End) -> Int64? {
        get { end == .first ? first : second }
        set { if end == .first { first = newValue } else { second = newValue } }
    }
}
