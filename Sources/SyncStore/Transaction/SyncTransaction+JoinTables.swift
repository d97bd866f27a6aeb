import SyncCore

// Resolves the rows of join tables by the ``LinkRule``, and compares them with the stored rows.
extension SyncTransaction {
    mutating func resolveJoinTables() throws -> [JoinTableChanges] {
        var changes: [JoinTableChanges] = []
        for link in model.links where link.storage == .joinTable && !plan[link.id].isEmpty {
            changes.append(try resolveJoinTable(link))
        }
        try removeDangling(store.danglingJoinRows())
        return changes
    }

    private mutating func resolveJoinTable(_ link: CompiledAssociation) throws -> JoinTableChanges {
        var said = ResolvedJoinRows(statements(of: link.id))
        addUnresolved(said.awaited, link.id)
        var compared = try store.compare(&said, link, coversAll: coversAll)
        for removed in compared.removed {
            addOrphan(removed.rows.first, removed.first, tables[link.first.table])
            addOrphan(removed.rows.second, removed.second, tables[link.second.table])
        }
        for end in [CompiledAssociation.End.first, .second] { preserveStoredOrder(of: said, link, end, &compared) }
        var changes = JoinTableChanges(
            link: link, removed: compared.removed.map(\.rows), moved: compared.moved.filter { $0.places != $0.stored },
            added: [], places: [])
        let hasPlaces = link.hasPlaces(.first) || link.hasPlaces(.second)
        changes.added.reserveCapacity(said.pairs.count { $0.isNew })
        for pair in said.pairs where pair.isNew {
            changes.added.append(NodeLink(first: pair.first, second: pair.second))
            if hasPlaces { changes.places.append(LinkPositions(said: pair)) }
        }
        try book(changes)
        return changes
    }

    private mutating func addOrphan(_ key: RowKey, _ node: NodeID?, _ table: SyncTable) {
        let entity = node.map { table.entity(of: $0) } ?? table.tree.root
        if model.isKeyless(entity) { leaving.addOrphan(StoredRow(table: table.id, key: key)) }
    }

    // MARK: Positions

    /// Keeps the stored positions of join rows at an end, where they are in the order of the new list.
    private func preserveStoredOrder(
        of said: ResolvedJoinRows, _ link: CompiledAssociation, _ end: CompiledAssociation.End,
        _ compared: inout JoinTableDiff
    ) {
        guard compared.moved.contains(where: { $0.places[end] != $0.stored[end] }) else { return }
        let pairs = said.pairs
        let lists = pairs.map { pair in
            pair.isStored || !pair.onlyKeeps ? LinkTarget(end == .first ? pair.first : pair.second) : .nowhere
        }
        var places = pairs.map { LinkPositions(said: $0)[end] }
        // A join row that did not move already has the position that the list gives it.
        var stored = pairs.indices.map { pairs[$0].isStored ? places[$0] : nil }
        for moved in compared.moved where places[moved.index] != nil { stored[moved.index] = moved.stored[end] }
        ListOrdering.preserveStoredOrder(
            &places, in: lists, stored: stored, replaced: end == .first ? said.first : said.second,
            reserved: reservedPositions(link, end))
        for index in compared.moved.indices {
            if let place = places[compared.moved[index].index] { compared.moved[index].places[end] = place }
        }
    }

    // MARK: Writing

    mutating func writeJoinRows(_ changes: JoinTableChanges) throws {
        let link = changes.link
        if !changes.removed.isEmpty { try store.remove(changes.removed, link) }
        for end in [CompiledAssociation.End.first, .second] where link.hasPlaces(end) {
            let moved = changes.moved.compactMap { moved in moved.places[end].map { (pair: moved.rows, place: $0) } }
            if !moved.isEmpty { try store.setPositions(moved, link, end) }
        }
        guard !changes.added.isEmpty else { return }
        var places = changes.places
        for end in [CompiledAssociation.End.first, .second] where link.hasPlaces(end) {
            var column = places.map { $0[end] }
            try ListOrdering.append(
                &column, in: changes.added.map { $0.node(end) }, reserved: reservedPositions(link, end)
            ) { try storedEnds(of: $0, link, end) }
            for (index, place) in column.enumerated() { places[index][end] = place }
        }
        try store.insert(changes.added, places, link)
    }
}

extension LinkPositions {
    /// Creates the positions that lists of the payload give. A position is nil if the join row comes after all others.
    fileprivate init(said pair: ResolvedJoinRows.Pair) {
        self.init(
            first: pair.firstPosition < 0 ? nil : Int64(pair.firstPosition),
            second: pair.secondPosition < 0 ? nil : Int64(pair.secondPosition))
    }
}
