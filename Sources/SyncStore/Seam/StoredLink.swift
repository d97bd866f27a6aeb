package import SyncCore

/// A stored link as seen from one of its ends.
package struct StoredLink: Sendable {
    /// The row at the end that was asked about.
    package var row: RowKey
    /// The row at the other end.
    package var other: RowKey
    /// Its place in the list of `row`; nil if it has none.
    package var place: Int64?
    /// Its place in the list of `other`; nil if it has none.
    package var otherPlace: Int64?

    package init(row: RowKey, other: RowKey, place: Int64?, otherPlace: Int64?) {
        self.row = row
        self.other = other
        self.place = place
        self.otherPlace = otherPlace
    }
}
