import SyncCore

// Resolves foreign keys by the ``LinkRule``.
extension SyncTransaction {
    mutating func resolveForeignKeys() throws {
        for table in tables {
            for (index, link) in table.hierarchy.foreignKeys.enumerated() { try resolve(model[link], table, index) }
        }
        dropUnownedRows()
        for table in tables {
            for (index, link) in table.hierarchy.foreignKeys.enumerated() {
                try setChangedForeignKeys(model[link], table, index)
            }
        }
    }

    private mutating func resolve(_ link: CompiledAssociation, _ table: SyncTable, _ index: Int) throws {
        let stored = table.matches.foreignKeys[index]
        guard !graph[link.id].isEmpty else {
            table.foreignKeys[index] = ResolvedForeignKeys(targets: stored.targets, positions: stored.positions)
            return
        }
        var outcome = ResolvedForeignKeyTargets(statements(of: link.id), stored: stored.targets)
        addUnresolved(outcome.pending, link.id)
        if link.isKeyPart { preserveKeyParts(&outcome, link, table, stored) }
        var positions = stored.positions
        if !outcome.positions.isEmpty {
            if stored.positions.isEmpty {
                table.matches.foreignKeys[index].positions = Array(repeating: nil, count: stored.targets.count)
            }
            let rows = ListOrdering.Rows(
                lists: outcome.nodes, positions: outcome.positions, states: table.matches.rowStates,
                storedLists: stored.targets, storedPositions: table.matches.foreignKeys[index].positions)
            positions = try ListOrdering.positions(
                of: rows, reserved: reservedPositions(link, .second), replaced: outcome.second
            ) { try storedEnds(of: $0, link, .second) }
        }
        table.foreignKeys[index] = ResolvedForeignKeys(targets: outcome.nodes, positions: positions)
        try addUnmatchedRows(link, table, outcome.second)
    }

    /// Keeps foreign keys that are part of composite keys, even if a replaced list omits the row.
    private func preserveKeyParts(
        _ outcome: inout ResolvedForeignKeyTargets, _ link: CompiledAssociation, _ table: SyncTable,
        _ stored: StoredForeignKeys
    ) {
        for (node, target) in keyTargets(link.id) { outcome.nodes[node.index] = LinkTarget(target) }
        for (node, target) in stored.targets.enumerated() where target != .nowhere { outcome.nodes[node] = target }
    }

    // MARK: Diff

    /// Marks foreign keys and positions that differ from the stored ones, and records the link changes.
    private mutating func setChangedForeignKeys(_ link: CompiledAssociation, _ table: SyncTable, _ index: Int) throws {
        let (states, stored, resolved) = (
            table.matches.rowStates, table.matches.foreignKeys[index], table.foreignKeys[index]
        )
        let target = table.index(of: .foreignKey(index))
        let position = table.index(of: .position(index))
        let hasPositions = link.hasPositions(.second) && !resolved.positions.isEmpty
        var differing: [NodeID] = []
        for node in states.indices where states[node] != .missing {
            let before = states[node] == .stored ? stored.targets[node] : .nowhere
            if before != resolved.targets[node] { differing.append(NodeID(node)) }
            if hasPositions, states[node] == .stored, resolved.positions[node] != stored.positions[node] {
                table.matches.changed.insert(position, of: NodeID(node))
            }
        }
        try loadEnds(of: differing, link, table)
        for node in differing {
            let isStored = states[node.index] == .stored
            let before = isStored ? stored.targets[node.index] : .nowhere
            try recordTarget(of: node, table, link, before: before, after: resolved.targets[node.index])
            guard isStored else { continue }
            table.matches.changed.insert(target, of: node)
            addOrphans(node, link, table, index, before)
        }
    }

    /// Records keyless rows at either end of a removed link as possible orphans.
    private mutating func addOrphans(
        _ node: NodeID, _ link: CompiledAssociation, _ table: SyncTable, _ index: Int, _ before: LinkTarget
    ) {
        guard before != .nowhere else { return }
        let second = tables[link.second.table]
        if model.isKeyless(table.entity(of: node)), let row = table.row(node) { deletionCandidates.addOrphan(row) }
        if let target = before.node {
            if model.isKeyless(second.entity(of: target)), let row = second.row(target) {
                deletionCandidates.addOrphan(row)
            }
        } else if second.hasSurrogateKey, !table.matches.foreignKeys[index].surrogateTargets.isEmpty,
            let key = table.matches.foreignKeys[index].surrogateTargets[node.index]
        {
            deletionCandidates.addOrphan(StoredRow(table: second.id, key: .integer(key)))
        }
    }

    // MARK: Unmatched rows

    /// Records unmatched rows that reference a node whose list is replaced, to unlink or delete them. Rows with pending
    /// changes are not deleted, because the service may not know their current state.
    private mutating func addUnmatchedRows(_ link: CompiledAssociation, _ table: SyncTable, _ replaced: ReplacedEnd)
        throws
    {
        let unmatched = table.matches.unmatchedRows
        let references = unmatched.references.filter { $0.link == link.id && replaced.isReplaced($0.target) }
        guard !references.isEmpty else { return }
        if table.hasSurrogateKey {
            try identities.load(references.lazy.map { StoredRow(table: table.id, key: unmatched.rows[$0.row].key) })
        }
        for reference in references {
            let unmatchedRow = unmatched.rows[reference.row]
            let row = StoredRow(table: table.id, key: unmatchedRow.key)
            let deletes = replaced.deletes(at: reference.target)
            if deletes, try identities.hasPendingChanges(row) { continue }
            if deletes || model.isKeyless(unmatchedRow.entity) {
                try addDeletionCandidate(row, link, owner: reference.target)
            } else if !link.isKeyPart {
                deletionCandidates[row].unlinked.insert(link.id)
            }
        }
    }
}

// MARK: - Rows without an owner

// A new row whose record has no key is inserted only if it keeps the link to its owner.
extension SyncTransaction {
    /// Drops new rows whose records have no key and whose link to the owner does not hold. A later link assertion can
    /// remove this link, or the owner can be missing.
    func dropUnownedRows() {
        var joinRowsByLink: [AssociationID: ResolvedJoinRows] = [:]
        var dropped: Set<PayloadGraph.RowReference> = []
        for row in graph.ownedRows where tables[row.table].isPresent(row.node, as: .new) {
            guard let owner = owner(of: row) else { continue }
            if model[owner.link].storage == .joinTable {
                let joinRows = joinRowsByLink[owner.link] ?? ResolvedJoinRows(statements(of: owner.link))
                joinRowsByLink[owner.link] = joinRows
                let (first, second) = owner.end == .first ? (owner.node, row.node) : (row.node, owner.node)
                if tables[owner.table].isPresent(owner.node), joinRows.holds(first, second) { continue }
            } else if isOwned(row, owner) {
                continue
            }
            tables[row.table].matches.rowStates[row.node.index] = .missing
            dropped.insert(row)
        }
        if !dropped.isEmpty { clearTargets(dropped) }
    }

    private func clearTargets(_ dropped: Set<PayloadGraph.RowReference>) {
        for table in tables {
            for (index, link) in table.hierarchy.foreignKeys.enumerated() {
                let second = model[link].second.table
                for (node, target) in table.foreignKeys[index].targets.enumerated() {
                    guard let target = target.node, dropped.contains(.init(table: second, node: target)) else {
                        continue
                    }
                    table.foreignKeys[index].targets[node] = .nowhere
                }
            }
        }
    }

    private func isOwned(_ row: PayloadGraph.RowReference, _ owner: NodeBatch.OwnerLink) -> Bool {
        let first = tables[model[owner.link].first.table]
        guard let index = first.foreignKey(owner.link) else { return true }
        let (child, target) = owner.end == .first ? (owner.node, row.node) : (row.node, owner.node)
        return first.isPresent(child) && first.foreignKeys[index].targets[child.index] == LinkTarget(target)
            && tables[owner.table].isPresent(owner.node)
    }
}

// MARK: - Join tables

// Resolves the rows of join tables by the ``LinkRule``, and compares them with the stored rows.
extension SyncTransaction {
    mutating func resolveJoinTables() throws -> [JoinTableChanges] {
        var changes: [JoinTableChanges] = []
        for link in model.links where link.storage == .joinTable && !graph[link.id].isEmpty {
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

// MARK: - Dangling links

// Removes dangling links before links are resolved, so that only the links that the payload asserts remain.
extension SyncTransaction {
    mutating func removeDanglingLinks() throws {
        try store.deletePendingReferencesOfNewNodes()
        try removeDangling(store.danglingLinks())
    }

    mutating func removeDangling(_ found: [DanglingJoinRows]) throws {
        for dangling in found {
            let link = model[dangling.link]
            for joinRow in dangling.joinRows {
                addOrphan(joinRow.first, link.first.table)
                addOrphan(joinRow.second, link.second.table)
            }
            guard link.storage == .foreignKey else { continue }
            let rows = dangling.joinRows.compactMap(\.first).map { StoredRow(table: link.first.table, key: $0) }
            try previousValues?.capture(rows)
            for row in rows {
                deletionCandidates[row].repairedRelationships.formUnion(
                    [link.first.relationship?.name].compactMap { $0 })
            }
        }
        if !found.isEmpty { try store.removeDangling(found.map(\.link)) }
        for dangling in found { recordRemoved(dangling) }
    }

    private mutating func addOrphan(_ key: RowKey?, _ table: TableID) {
        if let key, tables[table].hasSurrogateKey { deletionCandidates.addOrphan(StoredRow(table: table, key: key)) }
    }

    private mutating func recordRemoved(_ dangling: DanglingJoinRows) {
        let link = model[dangling.link]
        if link.storage == .foreignKey { removeTargets(of: dangling.joinRows.compactMap(\.first), link) }
        let side = link.first.relationship == nil ? link.second : link.first
        let name = side.relationship.map { "\(model.entities[side.entity].name).\($0.name)" } ?? ""
        let count = dangling.joinRows.count
        report.add(
            .danglingLinks, side.entity, key: nil, path: "",
            "\(count) dangling link\(count == 1 ? "" : "s") of \(name) \(count == 1 ? "was" : "were") removed: "
                + "the referenced row\(count == 1 ? " is" : "s are") not stored")
    }

    /// Removes dangling foreign keys from the data that matching has read.
    private func removeTargets(of rows: [RowKey], _ link: CompiledAssociation) {
        let table = tables[link.first.table]
        guard let index = table.foreignKey(link.id) else { return }
        var unmatched: Set<RowKey> = []
        for row in rows {
            guard let node = table.node(of: row) else {
                unmatched.insert(row)
                continue
            }
            table.matches.foreignKeys[index].targets[node.index] = .nowhere
            if !table.matches.foreignKeys[index].positions.isEmpty {
                table.matches.foreignKeys[index].positions[node.index] = nil
            }
        }
        let known = table.matches.unmatchedRows.rows
        table.matches.unmatchedRows.references.removeAll { $0.link == link.id && unmatched.contains(known[$0.row].key) }
    }

    /// Reports rows that lost a dangling link as updated, if they are still stored.
    mutating func reportRepairedRows() throws {
        let repaired = deletionCandidates.rows { !$0.repairedRelationships.isEmpty }
        guard !repaired.isEmpty else { return }
        try identities.load(repaired)
        for row in repaired {
            if let found = try identities[row] {
                recordUpdate(found, row, deletionCandidates[row].repairedRelationships.sorted())
            }
        }
    }
}
