package import SyncCore

/// How the stored pairs of a join table differ from those that a payload says there are.
package struct ComparedPairs: Sendable {
    /// A stored pair that is gone.
    package struct Removed: Sendable {
        package var rows: LinkedRows
        /// The nodes of its rows; nil for a row of which the payload does not speak.
        package var first: NodeID?
        package var second: NodeID?

        package init(rows: LinkedRows, first: NodeID?, second: NodeID?) {
            self.rows = rows
            self.first = first
            self.second = second
        }
    }

    /// A stored pair that the payload puts elsewhere in a list.
    package struct Moved: Sendable {
        /// Its position among the pairs that were said.
        package let index: Int
        package let rows: LinkedRows
        /// Nil at an end in whose list it has no place: others write pairs too.
        package let stored: LinkPlaces
        package var places: LinkPlaces

        /// Nil if it is where it was.
        package init?(
            _ said: LinkPairs.Pair, of link: Link, index: Int, stored: LinkPlaces, _ rows: () -> LinkedRows?
        ) {
            var places = stored
            if link.hasPlaces(.first), said.firstPosition >= 0 { places.first = Int64(said.firstPosition) }
            if link.hasPlaces(.second), said.secondPosition >= 0 { places.second = Int64(said.secondPosition) }
            guard places != stored, let rows = rows() else { return nil }
            self.index = index
            self.rows = rows
            self.stored = stored
            self.places = places
        }
    }

    package var removed: [Removed] = []
    package var moved: [Moved] = []

    package init() {}
}
