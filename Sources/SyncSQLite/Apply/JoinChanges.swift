import SyncCore

/// What is to be written to one join table.
struct JoinChanges {
    /// A stored pair, by the row keys of its ends.
    struct Pair: Hashable {
        var first: RowKey
        var second: RowKey
    }

    /// A link between two nodes, with its place in the order of either end; -1 where there is none.
    struct Link {
        var first: Int32
        var second: Int32
        var firstPosition: Int32
        var secondPosition: Int32

        /// Its place in the order of an end, as it is stored.
        func order(_ end: SyncCore.Link.End) -> Int64? {
            let position = end == .first ? firstPosition : secondPosition
            return position < 0 ? nil : Int64(position)
        }
    }

    /// The place of a stored pair in the order of either end; nil where there is none.
    struct Orders: Hashable {
        var first: Int64?
        var second: Int64?
    }

    /// A stored pair that is put elsewhere in the order of an end.
    struct Reordering {
        /// Its place among the pairs that were said.
        var index: Int
        var pair: Pair
        var orders: Orders
        var stored: Orders
    }

    var added: [Link] = []
    var reordered: [Reordering] = []
    var removed: [Pair] = []
}
