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
        var joinRows = ResolvedJoinRows(statements(of: link.id))
        addUnresolved(joinRows.pending, link.id)
        var compared = try store.diff(&joinRows, link, coversAll: coversAll)
        for removed in compared.removed {
            addOrphan(removed.rows.first, removed.first, tables[link.first.table])
            addOrphan(removed.rows.second, removed.second, tables[link.second.table])
        }
        for end in [CompiledAssociation.End.first, .second] { preserveStoredOrder(of: joinRows, link, end, &compared) }
        var changes = JoinTableChanges(
            link: link, removed: compared.removed.map(\.rows),
            moved: compared.moved.filter { $0.positions != $0.stored },
            added: [], positions: [])
        let hasPositions = link.hasPositions(.first) || link.hasPositions(.second)
        changes.added.reserveCapacity(joinRows.rows.count { $0.isNew })
        for row in joinRows.rows where row.isNew {
            changes.added.append(NodeLink(first: row.first, second: row.second))
            if hasPositions { changes.positions.append(LinkPositions(asserted: row)) }
        }
        try recordLinkChanges(changes)
        recordReorderedLists(changes, joinRows)
        return changes
    }

    private mutating func addOrphan(_ key: RowKey, _ node: NodeID?, _ table: SyncTable) {
        let entity = node.map { table.entity(of: $0) } ?? table.hierarchy.root
        if model.isKeyless(entity) { deletionCandidates.addOrphan(StoredRow(table: table.id, key: key)) }
    }

    // MARK: Positions

    /// Keeps the stored positions of join rows in the lists at an end, where these are in the order of the new list.
    private func preserveStoredOrder(
        of joinRows: ResolvedJoinRows, _ link: CompiledAssociation, _ end: CompiledAssociation.End,
        _ compared: inout JoinTableDiff
    ) {
        guard compared.moved.contains(where: { $0.positions[end] != $0.stored[end] }) else { return }
        let rows = joinRows.rows
        let lists = rows.map { row in
            row.isStored || !row.onlyPreserves ? LinkTarget(end == .first ? row.first : row.second) : .nowhere
        }
        var positions = rows.map { LinkPositions(asserted: $0)[end] }
        // The stored position of a join row that did not move is the position in the new list.
        var stored = rows.indices.map { rows[$0].isStored ? positions[$0] : nil }
        for moved in compared.moved where positions[moved.index] != nil { stored[moved.index] = moved.stored[end] }
        ListOrdering.preserveStoredOrder(
            &positions, in: lists, stored: stored, replaced: end == .first ? joinRows.first : joinRows.second,
            reserved: reservedPositions(link, end))
        for index in compared.moved.indices {
            if let position = positions[compared.moved[index].index] { compared.moved[index].positions[end] = position }
        }
    }

    /// Reports the rows whose lists get another order as updated, without attributes.
    private mutating func recordReorderedLists(_ changes: JoinTableChanges, _ joinRows: ResolvedJoinRows) {
        if !changes.moved.isEmpty { reordersJoinRows = true }
        for end in [CompiledAssociation.End.first, .second] {
            let table = tables[changes.link.side(end).table]
            var owners: Set<NodeID> = []
            for moved in changes.moved where moved.positions[end] != moved.stored[end] {
                let joinRow = joinRows.rows[moved.index]
                owners.insert(end == .first ? joinRow.first : joinRow.second)
            }
            for owner in owners {
                guard let row = table.row(owner) else { continue }
                recordUpdate(table.identity(of: owner), row, [])
            }
        }
    }

    // MARK: Writing

    mutating func writeJoinRows(_ changes: JoinTableChanges) throws {
        let link = changes.link
        if !changes.removed.isEmpty { try store.remove(changes.removed, link) }
        for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
            let moved = changes.moved.compactMap { moved in moved.positions[end].map { (key: moved.rows, position: $0) }
            }
            if !moved.isEmpty { try store.setPositions(moved, link, end) }
        }
        guard !changes.added.isEmpty else { return }
        var positions = changes.positions
        for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
            var column = positions.map { $0[end] }
            try ListOrdering.append(
                &column, in: changes.added.map { $0.node(end) }, reserved: reservedPositions(link, end)
            ) { try storedEnds(of: $0, link, end) }
            for (index, position) in column.enumerated() { positions[index][end] = position }
        }
        try store.insert(changes.added, positions, link)
    }
}

extension LinkPositions {
    /// Creates the positions that the lists of the payload give a new join row. A position is nil at an end whose list
    /// does not give one: the row then comes last.
    fileprivate init(asserted row: ResolvedJoinRows.Row) {
        self.init(
            first: row.firstPosition < 0 ? nil : Int64(row.firstPosition),
            second: row.secondPosition < 0 ? nil : Int64(row.secondPosition))
    }
}
