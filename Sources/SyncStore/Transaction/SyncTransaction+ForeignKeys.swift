import SyncCore

// Resolves foreign keys by the ``LinkRule``.
extension SyncTransaction {
    mutating func resolveForeignKeys() throws {
        for table in tables {
            for (index, link) in table.tree.foreignKeys.enumerated() { try resolve(model[link], table, index) }
        }
        dropUnownedRows()
        for table in tables {
            for (index, link) in table.tree.foreignKeys.enumerated() { try markChanges(model[link], table, index) }
        }
    }

    private mutating func resolve(_ link: CompiledAssociation, _ table: SyncTable, _ index: Int) throws {
        let stored = table.met.foreignKeys[index]
        guard !plan[link.id].isEmpty else {
            table.foreignKeys[index] = ResolvedForeignKeys(targets: stored.targets, places: stored.places)
            return
        }
        var outcome = ResolvedForeignKeyTargets(statements(of: link.id), stored: stored.targets)
        addUnresolved(outcome.awaited, link.id)
        if link.isKeyPart { keepKeyParts(&outcome, link, table, stored) }
        var places = stored.places
        if !outcome.positions.isEmpty {
            if stored.places.isEmpty {
                table.met.foreignKeys[index].places = Array(repeating: nil, count: stored.targets.count)
            }
            let rows = ListOrdering.Rows(
                lists: outcome.nodes, positions: outcome.positions, presence: table.met.presence,
                storedLists: stored.targets, storedPositions: table.met.foreignKeys[index].places)
            places = try ListOrdering.places(
                of: rows, reserved: reservedPositions(link, .second), replaced: outcome.second
            ) { try storedEnds(of: $0, link, .second) }
        }
        table.foreignKeys[index] = ResolvedForeignKeys(targets: outcome.nodes, places: places)
        try addUnmatchedRows(link, table, outcome.second)
    }

    /// Keeps foreign keys that are part of composite keys, even if a replaced list omits the row.
    private func keepKeyParts(
        _ outcome: inout ResolvedForeignKeyTargets, _ link: CompiledAssociation, _ table: SyncTable,
        _ stored: StoredForeignKeys
    ) {
        for (node, target) in keyTargets(link.id) { outcome.nodes[node.index] = LinkTarget(target) }
        for (node, target) in stored.targets.enumerated() where target != .nowhere { outcome.nodes[node] = target }
    }

    // MARK: Diff

    /// Marks foreign keys and positions that differ from the stored ones, and records the link changes.
    private mutating func markChanges(_ link: CompiledAssociation, _ table: SyncTable, _ index: Int) throws {
        let (presence, stored, shall) = (table.met.presence, table.met.foreignKeys[index], table.foreignKeys[index])
        let target = table.index(of: .foreignKey(index))
        let place = table.index(of: .place(index))
        let hasPlaces = link.hasPlaces(.second) && !shall.places.isEmpty
        var differing: [NodeID] = []
        for node in presence.indices where presence[node] != .missing {
            let before = presence[node] == .stored ? stored.targets[node] : .nowhere
            if before != shall.targets[node] { differing.append(NodeID(node)) }
            if hasPlaces, presence[node] == .stored, shall.places[node] != stored.places[node] {
                table.met.changed.insert(place, of: NodeID(node))
            }
        }
        try loadEnds(of: differing, link, table)
        for node in differing {
            let isStored = presence[node.index] == .stored
            let before = isStored ? stored.targets[node.index] : .nowhere
            try recordTarget(of: node, table, link, before: before, after: shall.targets[node.index])
            guard isStored else { continue }
            table.met.changed.insert(target, of: node)
            addOrphans(node, link, table, index, before)
        }
    }

    /// Records keyless rows at either end of a removed link as possible orphans.
    private mutating func addOrphans(
        _ node: NodeID, _ link: CompiledAssociation, _ table: SyncTable, _ index: Int, _ before: LinkTarget
    ) {
        guard before != .nowhere else { return }
        let second = tables[link.second.table]
        if model.isKeyless(table.entity(of: node)), let row = table.row(node) { leaving.addOrphan(row) }
        if let target = before.node {
            if model.isKeyless(second.entity(of: target)), let row = second.row(target) { leaving.addOrphan(row) }
        } else if second.hasHiddenKey, !table.met.foreignKeys[index].hiddenTargets.isEmpty,
            let key = table.met.foreignKeys[index].hiddenTargets[node.index]
        {
            leaving.addOrphan(StoredRow(table: second.id, key: .integer(key)))
        }
    }

    // MARK: Unmatched rows

    /// Records unmatched rows that reference a node whose list is replaced, to unlink or delete them. Rows with pending
    /// changes are not deleted, because the lists of the service cannot contain them yet.
    private mutating func addUnmatchedRows(_ link: CompiledAssociation, _ table: SyncTable, _ spoken: ReplacedEnd)
        throws
    {
        let strays = table.met.strays
        let pointers = strays.pointers.filter { $0.link == link.id && spoken.speaks(of: $0.target) }
        guard !pointers.isEmpty else { return }
        if table.hasHiddenKey {
            try identities.load(pointers.lazy.map { StoredRow(table: table.id, key: strays.rows[$0.row].key) })
        }
        try loadMarks(of: pointers.lazy.map { StoredRow(table: table.id, key: strays.rows[$0.row].key) })
        for pointer in pointers {
            let stray = strays.rows[pointer.row]
            let row = StoredRow(table: table.id, key: stray.key)
            let deletes = spoken.deletes(at: pointer.target)
            if deletes, try identities.isUnsent(row) { continue }
            if deletes || model.isKeyless(stray.entity) {
                try addDeletionCandidate(row, link, owner: pointer.target)
            } else if !link.isKeyPart {
                leaving[row].unlinked.insert(link.id)
            }
        }
    }
}

// MARK: - Rows without an owner

// A new row without a key exists only if the link to its owner does.
extension SyncTransaction {
    /// Drops new rows without a key whose owner was unlinked by a later link assertion.
    func dropUnownedRows() {
        var pairs: [AssociationID: ResolvedJoinRows] = [:]
        var dropped: Set<PayloadGraph.RowReference> = []
        for row in plan.ownedRows where tables[row.table].isPresent(row.node, as: .new) {
            guard let owner = owner(of: row) else { continue }
            if model[owner.link].storage == .joinTable {
                let said = pairs[owner.link] ?? ResolvedJoinRows(statements(of: owner.link))
                pairs[owner.link] = said
                let (first, second) = owner.end == .first ? (owner.node, row.node) : (row.node, owner.node)
                if tables[owner.table].isPresent(owner.node), said.holds(first, second) { continue }
            } else if isOwned(row, owner) {
                continue
            }
            tables[row.table].met.presence[row.node.index] = .missing
            dropped.insert(row)
        }
        if !dropped.isEmpty { clearTargets(dropped) }
    }

    private func clearTargets(_ dropped: Set<PayloadGraph.RowReference>) {
        for table in tables {
            for (index, link) in table.tree.foreignKeys.enumerated() {
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
