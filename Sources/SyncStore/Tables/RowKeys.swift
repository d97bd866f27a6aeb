package import SyncCore

/// The row keys of nodes that do not have them in their slot: hidden keys, and those of rows without a key of their own.
package struct RowKeys: Sendable {
    private var keys: [NodeID: RowKey] = [:]
    private var hidden: [Int64: NodeID] = [:]
    private var owned: [RowKey: NodeID] = [:]

    package init() {}

    package subscript(node: NodeID) -> RowKey? { keys[node] }

    package func node(ofHidden key: Int64) -> NodeID? { hidden[key] }

    /// The node that met its row through its owner, or was given a key.
    package func owned(_ key: RowKey) -> NodeID? { owned[key] }

    package var isEmpty: Bool { keys.isEmpty }

    package var hasOwned: Bool { !owned.isEmpty }

    /// A node of a table with hidden keys met its row.
    package mutating func meet(_ node: NodeID, hidden key: Int64) {
        keys[node] = .integer(key)
        hidden[key] = node
    }

    /// A node met its row through its owner, or a new one was given its key.
    mutating func own(_ node: NodeID, _ key: RowKey, isHidden: Bool) {
        if isHidden, case .integer(let number) = key { hidden[number] = node }
        keys[node] = key
        owned[key] = node
    }

    /// A node met the row of another one.
    mutating func lend(_ key: RowKey, to node: NodeID) { keys[node] = key }

    mutating func forget(_ node: NodeID) { keys[node] = nil }
}
