import SyncCore

extension SyncTransaction {
    /// The places after all others in the lists of nodes at an end, but for new ones, where that is the first.
    func freePlaces(
        _ nodes: some Sequence<NodeID>, _ link: Link, _ end: Link.End
    ) throws -> [NodeID: Int64] {
        let table = tables[link.side(end).table]
        var owners: [NodeID: RowKey] = [:]
        for node in nodes where owners[node] == nil && table.isPresent(node, as: .stored) {
            owners[node] = table.rowKey(node)
        }
        guard !owners.isEmpty else { return [:] }
        let asked = Array(owners)
        let free = try store.freePlaces(in: asked.map(\.value), link, end)
        return Dictionary(zip(asked.map(\.key), free), uniquingKeysWith: { $1 })
    }
}
