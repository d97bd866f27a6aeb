import SyncCore

// Moves linked rows that a list of the payload omits behind the listed rows, in their previous order. Such rows keep
// their link if the operations or the scope preserve it, or if their own records assert it.
extension SyncTransaction {
    mutating func resolvePositions() throws {
        for link in model.links where !graph[link.id].isEmpty {
            for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
                try resolvePositions(link, end)
            }
        }
    }

    private mutating func resolvePositions(_ link: CompiledAssociation, _ end: CompiledAssociation.End) throws {
        let lists = listsToReorder(link, end)
        guard !lists.isEmpty else { return }
        try links.load(lists.keys, link.id, from: end)
        var moved: Set<StoredRow> = []
        for (owner, listed) in lists {
            try progress.advance()
            let others = try resolvePositions(of: owner, link, end, listed: listed)
            if link.storage == .foreignKey {
                for row in others { moved.insert(StoredRow(table: link.first.table, key: row)) }
            } else if !others.isEmpty {
                reordersJoinRows = true
                moved.insert(StoredRow(table: link.side(end).table, key: owner))
            }
        }
        try identities.load(moved)
        for row in moved {
            if let found = try identities[row] { recordUpdate(found, row, []) }
        }
    }

    /// Returns the listed rows by owner, for lists whose owner may have other linked rows.
    private func listsToReorder(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> [RowKey: Set<RowKey>] {
        let statements = statements(of: link.id)
        let replaced = statements.replacedEnd(end)
        let (table, others) = (tables[link.side(end).table], tables[link.side(end.other).table])
        let joined = joinedOwners(link, end)
        let reduced = ownersWithRemovedEntries(link, end)
        var lists: [NodeID: Set<RowKey>] = [:]
        for assertion in statements.stated where assertion.assertedBy == end && assertion.position >= 0 {
            let (owner, child) = assertion.ends(from: end)
            // Rows keep links that are part of their composite key, even if a list omits them.
            let isReplaced = table.isPresent(owner, as: .new) || (replaced.isReplaced(owner) && !link.isKeyPart)
            guard !isReplaced || joined.contains(owner) || reduced.contains(owner), let key = others.rowKey(child)
            else {
                continue
            }
            lists[owner, default: []].insert(key)
        }
        return Dictionary(
            lists.compactMap { owner, list in table.rowKey(owner).map { ($0, list) } }, uniquingKeysWith: { $1 })
    }

    /// Returns the nodes at an end to which records of the other end assert a link.
    private func joinedOwners(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> Set<NodeID> {
        Set(graph[link.id].assertions.lazy.filter { $0.assertedBy != end }.map { $0.ends(from: end).owner })
    }

    /// Returns the owners of rows that a list omits and that stay linked until the end of the paged import. A later
    /// page can keep these links.
    private func ownersWithRemovedEntries(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> Set<NodeID> {
        guard end == .second, let unlisted = pagedImport?.removedListEntries, !unlisted.isEmpty else { return [] }
        let keys = Set(unlisted.filter { $0.link == link.id }.map(\.owner))
        return Set(keys.compactMap { tables[link.second.table].node(of: $0) })
    }

    /// Moves the rows of a list that the payload omits.
    ///
    /// - Returns: The rows whose position changes.
    private func resolvePositions(
        of owner: RowKey, _ link: CompiledAssociation, _ end: CompiledAssociation.End, listed names: Set<RowKey>
    ) throws -> [RowKey] {
        let isParent = link.id == graph.parent?.link && end == graph.parent?.end
        let table = link.side(end.other).table
        let list = try links.list(of: owner, link.id, end)
        let named = try list.map { row, _ in
            try names.contains(row) || (isParent && isListed(StoredRow(table: table, key: row)))
        }
        let positions = ListOrdering.movingOthers(behind: named, in: list.map(\.position))
        try links.setPositions(positions, of: list, in: owner, link.id, end)
        return zip(list, positions).filter { $1 != nil && $1 != $0.position }.map(\.0.row)
    }
}

// MARK: - Reserved and free positions

// Positions that `ListOrdering` needs in addition to the rows of a list.
extension SyncTransaction {
    /// Returns the positions that the lists of nodes at an end reserve for rows that are not stored.
    func reservedPositions(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> ListEnds {
        ListEnds(
            reserving: unresolvedLinks[link.id], at: end, count: tables[link.side(end).table].matches.rowStates.count)
    }

    /// Returns the next free position in the list of each node at an end; 0 for a new node.
    func storedEnds(of nodes: [NodeID], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws -> [Int64] {
        let table = tables[link.side(end).table]
        var ends = Array(repeating: Int64(0), count: nodes.count)
        let stored = nodes.indices.filter { table.isPresent(nodes[$0], as: .stored) }
        let owners = stored.compactMap { index in table.rowKey(nodes[index]).map { (index: index, key: $0) } }
        guard !owners.isEmpty else { return ends }
        let free = try store.nextPositions(in: owners.map(\.key), link, end)
        for (owner, position) in zip(owners, free) { ends[owner.index] = position }
        return ends
    }
}
