package import SyncCore

/// Which columns of stored rows must be written: a bit for each.
package struct ChangedColumns: Sendable {
    /// How many columns there are: attributes, then foreign keys, then their places.
    package let columnCount: Int
    private let words: Int
    private let nodeCount: Int
    /// Empty as long as there are none.
    private var bits: [UInt64] = []

    init(columnCount: Int, nodeCount: Int) {
        self.columnCount = columnCount
        self.nodeCount = nodeCount
        words = (columnCount + 63) / 64
    }

    package mutating func insert(_ column: Int, of node: NodeID) {
        if bits.isEmpty { bits = Array(repeating: 0, count: nodeCount * words) }
        bits[node.index * words + column >> 6] |= 1 << UInt64(column & 63)
    }

    mutating func removeAll(of node: NodeID) {
        guard !bits.isEmpty else { return }
        for word in 0..<words { bits[node.index * words + word] = 0 }
    }

    package func contains(_ node: NodeID) -> Bool {
        guard !bits.isEmpty else { return false }
        for word in 0..<words where bits[node.index * words + word] != 0 { return true }
        return false
    }

    /// The bits of a node; the same for nodes of which the same columns changed.
    package func mask(of node: NodeID) -> [UInt64] {
        bits.isEmpty ? [] : Array(bits[node.index * words..<(node.index + 1) * words])
    }

    /// The columns of a mask, ascending.
    package func columns(_ mask: [UInt64]) -> [Int] {
        mask.isEmpty ? [] : (0..<columnCount).filter { mask[$0 >> 6] & (1 << UInt64($0 & 63)) != 0 }
    }
}
