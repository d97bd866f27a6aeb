import SyncCore
import SyncStore

/// The nodes of integer keys, asked for in ascending order.
struct KeyCursor {
    /// The keys, ascending.
    private let keys: [Int64]
    /// The node of each key; empty if the nodes are in this order already.
    private let nodes: [Int32]
    private var position = 0

    init(_ keys: [Int64]) {
        nodes = KeyOrder.ascending(keys)
        self.keys = nodes.isEmpty ? keys : nodes.map { keys[Int($0)] }
    }

    /// The node of the next row's key, which is no lower than the key asked for before; nil if there is none.
    @inline(__always)
    mutating func node(for key: Int64) -> Int? {
        while position < keys.count, keys[position] < key { position += 1 }
        guard position < keys.count, keys[position] == key else { return nil }
        return nodes.isEmpty ? position : Int(nodes[position])
    }

    /// The node that is so many keys ahead, unless nodes are in this order anyway.
    @inline(__always)
    func node(ahead distance: Int) -> Int? {
        position + distance < nodes.count ? Int(nodes[position + distance]) : nil
    }
}
