extension ChangePlan {
    /// The same plan with nodes that turned out to be the same row made one.
    ///
    /// - Parameter nodes: By the node to give up, the one to keep.
    package func merging(_ nodes: [RowReference: NodeID]) -> ChangePlan {
        var merged = self
        merged.merge(nodes)
        return merged
    }

    private mutating func merge(_ nodes: [RowReference: NodeID]) {
        for (node, kept) in nodes.sorted(by: { ($0.key.table, $0.key.node) < ($1.key.table, $1.key.node) }) {
            self[node.table].absorb(node.node, into: kept)
        }
        func kept(_ node: NodeID, _ table: TableID) -> NodeID { nodes[RowReference(table: table, node: node)] ?? node }
        for link in links.indices {
            let (first, second) = (model.links[link].first.table, model.links[link].second.table)
            for index in links[link].assertions.indices {
                links[link].assertions[index].first = kept(links[link].assertions[index].first, first)
                links[link].assertions[index].second = kept(links[link].assertions[index].second, second)
            }
            for index in links[link].replacements.indices {
                let table = links[link].replacements[index].end == .first ? first : second
                links[link].replacements[index].node = kept(links[link].replacements[index].node, table)
            }
        }
        for index in mentions.indices {
            mentions[index].node = mentions[index].node.map { kept($0, mentions[index].table) }
        }
        ownedRows.removeAll { nodes[$0] != nil }
        for table in rows.indices {
            for (place, owner) in rows[table].owners.enumerated() {
                rows[table].setOwner(kept(owner.node, owner.table), of: place)
            }
        }
    }
}
