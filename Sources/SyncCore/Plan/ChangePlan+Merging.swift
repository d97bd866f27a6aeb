extension ChangePlan {
    /// Makes nodes that turned out to be the same row one: by the node to give up, the one to keep.
    package mutating func merge(_ nodes: [RowReference: Int]) {
        for (node, kept) in nodes.sorted(by: { ($0.key.tree, $0.key.node) < ($1.key.tree, $1.key.node) }) {
            rows[node.tree].absorb(node.node, into: kept)
        }
        func kept(_ node: Int32, _ tree: Int) -> Int32 {
            nodes[RowReference(tree: tree, node: Int(node))].map { Int32(truncatingIfNeeded: $0) } ?? node
        }
        for link in links.indices {
            let (first, second) = (model.links[link].first.tree, model.links[link].second.tree)
            for index in links[link].assertions.indices {
                links[link].assertions[index].first = kept(links[link].assertions[index].first, first)
                links[link].assertions[index].second = kept(links[link].assertions[index].second, second)
            }
            for index in links[link].replacements.indices {
                let tree = links[link].replacements[index].end == .first ? first : second
                links[link].replacements[index].node = kept(links[link].replacements[index].node, tree)
            }
        }
        for index in mentions.indices { mentions[index].node = kept(mentions[index].node, Int(mentions[index].tree)) }
        ownedRows.removeAll { nodes[$0] != nil }
        for tree in rows.indices {
            for (place, owner) in rows[tree].owners.enumerated() {
                rows[tree].setOwner(kept(owner.node, Int(owner.tree)), of: place)
            }
        }
    }
}
