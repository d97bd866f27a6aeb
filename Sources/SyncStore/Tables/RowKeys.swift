package import SyncCore

/// The row keys of nodes that do not have them in their slot: hidden keys, and those of rows without a key of their own.
package struct RowKeys: Sendable {
    /// Whether the table's rows have hidden keys: then they are all here.
    private let areHidden: Bool
    private var hidden = HiddenKeys()
    private var keys: [NodeID: RowKey] = [:]
    private var owned: [RowKey: NodeID] = [:]
    /// Whether a node met its row through its owner, or was given a key.
    package private(set) var hasOwned = false

    init(areHidden: Bool) { self.areHidden = areHidden }

    package subscript(node: NodeID) -> RowKey? {
        areHidden ? hidden[node].map { .integer($0) } : keys[node]
    }

    package func node(ofHidden key: Int64) -> NodeID? { hidden.node(of: key) }

    /// The node that met its row through its owner, or was given a key; of hidden keys any node.
    package func owned(_ key: RowKey) -> NodeID? {
        guard areHidden else { return owned[key] }
        guard case .integer(let number) = key else { return nil }
        return hidden.node(of: number)
    }

    package var isEmpty: Bool { areHidden ? hidden.isEmpty : keys.isEmpty }

    /// A node of a table with hidden keys met its row.
    package mutating func meet(_ node: NodeID, hidden key: Int64) { hidden.insert(node, key) }

    /// A node met its row through its owner, or a new one was given its key.
    mutating func own(_ node: NodeID, _ key: RowKey) {
        hasOwned = true
        if areHidden {
            if case .integer(let number) = key { hidden.insert(node, number) }
        } else {
            keys[node] = key
            owned[key] = node
        }
    }

    /// A node met the row of another one.
    mutating func lend(_ key: RowKey, to node: NodeID) {
        guard areHidden else { return keys[node] = key }
        if case .integer(let number) = key { hidden.lend(number, to: node) }
    }

    mutating func forget(_ node: NodeID) {
        if areHidden { hidden.forget(node) } else { keys[node] = nil }
    }
}
