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
        guard !plan[link.id].isEmpty else {
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
        try loadRowFlags(of: references.lazy.map { StoredRow(table: table.id, key: unmatched.rows[$0.row].key) })
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
        for row in plan.ownedRows where tables[row.table].isPresent(row.node, as: .new) {
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
