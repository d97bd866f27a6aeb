import SyncCore

extension SyncTable {
    /// The new rows, in the order in which the table takes them best: that of the keys it has them by.
    func newRows() -> [NodeID] {
        let nodes = nodes(.new)
        guard hasHiddenKey else { return sortedByKey(nodes) }
        let numbers = nodes.compactMap { node -> Int64? in
            guard case .integer(let key) = keys[node] else { return nil }
            return key
        }
        return numbers.count == nodes.count ? sorted(nodes, by: numbers) : nodes
    }

    /// Nodes in the order of the keys that JSON names their rows by, if all have one.
    func sortedByKey(_ nodes: [NodeID]) -> [NodeID] {
        func key(_ node: NodeID) -> Slot { batch.nodes[node.index].key }
        if nodes.allSatisfy({ key($0).kind == .integer }) { return sorted(nodes, by: nodes.map { key($0).integer }) }
        guard nodes.allSatisfy({ key($0).isText }) else { return nodes }
        return nodes.sorted { TextPool.precedes(pool.bytes(key($0)), pool.bytes(key($1))) }
    }

    private func sorted(_ nodes: [NodeID], by keys: [Int64]) -> [NodeID] {
        let order = KeyOrder.ascending(keys)
        return order.isEmpty ? nodes : order.map { nodes[Int($0)] }
    }
}
