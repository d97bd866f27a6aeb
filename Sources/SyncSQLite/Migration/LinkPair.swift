import GRDB

/// Two linked rows by their keys, with their places in the order of either end.
struct LinkPair {
    var first: DatabaseValue
    var second: DatabaseValue
    var firstOrder: Int64?
    var secondOrder: Int64?
    /// Whether a relationship of the new model has the link.
    var isPlaced = false

    var flipped: LinkPair {
        LinkPair(first: second, second: first, firstOrder: secondOrder, secondOrder: firstOrder)
    }
}
