import SyncCore

/// What is to be written to one join table.
struct JoinChanges {
    /// A stored pair, by the row keys of its ends.
    struct Pair: Hashable {
        var first: RowKey
        var second: RowKey
    }

    /// A link between two nodes, with its place in the order of either end; nil where there is none.
    struct Link {
        var first: Int32
        var second: Int32
        var firstOrder: Int64?
        var secondOrder: Int64?
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
