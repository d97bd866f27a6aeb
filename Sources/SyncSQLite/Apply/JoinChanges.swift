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

    var added: [Link] = []
    /// Links that are stored in another order.
    var reordered: [(pair: Pair, firstOrder: Int64?, secondOrder: Int64?)] = []
    var removed: [Pair] = []
}
