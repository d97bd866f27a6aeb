import SyncCore

// Which pairs a join table shall have, by the rule for links, and which of them it has.
extension SyncTransaction {
    mutating func resolveJoinTables() throws -> [PairChanges] {
        var changes: [PairChanges] = []
        for link in model.links where link.storage == .joinTable && !plan[link.id].isEmpty {
            changes.append(try resolveJoinTable(link))
        }
        try removeDangling(store.danglingPairs())
        return changes
    }

    private mutating func resolveJoinTable(_ link: Link) throws -> PairChanges {
        var said = LinkPairs(statements(of: link.id))
        noteAwaited(said.awaited, link.id)
        var compared = try store.compare(&said, link, speaksOfAll: speaksOfAll)
        for removed in compared.removed {
            noteOrphan(removed.rows.first, removed.first, tables[link.first.table])
            noteOrphan(removed.rows.second, removed.second, tables[link.second.table])
        }
        keepSameOrders(.first, said, link, &compared)
        keepSameOrders(.second, said, link, &compared)
        var changes = PairChanges(
            link: link, removed: compared.removed.map(\.rows), moved: compared.moved.filter { $0.places != $0.stored },
            added: [], places: [])
        let hasPlaces = link.hasPlaces(.first) || link.hasPlaces(.second)
        changes.added.reserveCapacity(said.pairs.count { $0.isNew })
        for pair in said.pairs where pair.isNew {
            changes.added.append(NodePair(first: pair.first, second: pair.second))
            if hasPlaces { changes.places.append(LinkPlaces(said: pair)) }
        }
        try book(changes)
        return changes
    }

    private mutating func noteOrphan(_ key: RowKey, _ node: NodeID?, _ table: SyncTable) {
        let entity = node.map { table.entity(of: $0) } ?? table.tree.root
        if model.isKeyless(entity) { leaving.noteOrphan(StoredRow(table: table.id, key: key)) }
    }

    // MARK: Writing

    mutating func writePairs(_ changes: PairChanges) throws {
        let link = changes.link
        if !changes.removed.isEmpty { try store.remove(changes.removed, link) }
        for end in [Link.End.first, .second] where link.hasPlaces(end) {
            let moved = changes.moved.compactMap { moved in moved.places[end].map { (pair: moved.rows, place: $0) } }
            if !moved.isEmpty { try store.setPlaces(moved, link, end) }
        }
        guard !changes.added.isEmpty else { return }
        var places = changes.places
        for end in [Link.End.first, .second] where link.hasPlaces(end) {
            try givePlaces(&places, changes.added, link, end)
        }
        try store.insert(changes.added, places, link)
    }

    /// Gives the pairs that no list names places after all others: after what is stored, after what lists of the payload
    /// give, and after what they wait for.
    private func givePlaces(
        _ places: inout [LinkPlaces], _ pairs: [NodePair], _ link: Link, _ end: Link.End
    ) throws {
        let unplaced = pairs.indices.filter { places[$0][end] == nil }
        var next = awaited[link.id].awaitedPlaces(at: end)
        next.merge(try freePlaces(unplaced.lazy.map { pairs[$0].node(end) }, link, end), uniquingKeysWith: max)
        for (index, pair) in pairs.enumerated() {
            if let place = places[index][end] { next[pair.node(end)] = max(next[pair.node(end)] ?? 0, place + 1) }
        }
        for index in unplaced {
            let place = next[pairs[index].node(end)] ?? 0
            places[index][end] = place
            next[pairs[index].node(end)] = place + 1
        }
    }
}

extension LinkPlaces {
    /// The places that lists of the payload give; nil where a pair comes after all others.
    fileprivate init(said pair: LinkPairs.Pair) {
        self.init(
            first: pair.firstPosition < 0 ? nil : Int64(pair.firstPosition),
            second: pair.secondPosition < 0 ? nil : Int64(pair.secondPosition))
    }
}
