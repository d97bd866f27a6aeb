import SyncCore

// Stored rows that the payload does not mention, but that point to rows whose links it replaces, or are in its scope.
extension SyncTransaction {
    /// Whether every stored row of a table must be seen, because those the payload leaves out are deleted.
    func speaksForAllRows(of table: TableID) -> Bool { wholeScope(of: table) != nil }

    /// The entity of a table whose rows must all be seen; of several the one they all are of.
    private func wholeScope(of table: TableID) -> Int? {
        var scope: Int?
        for root in plan.roots where model.entities[root.entity].table == table && isWholeEntityScope(root) {
            scope = scope == nil || scope == root.entity ? root.entity : model[table].root
        }
        return scope
    }

    /// Whether the scope of a list is the whole entity.
    func isWholeEntityScope(_ root: ChangePlan.Root) -> Bool {
        deletesMissing(root) && predicate == nil && plan.parent == nil
            && (options.scope == .all || model.entities[root.entity].rootScope == nil)
    }

    /// Whether the payload is all there is: a stored link to a row that it does not mention is a rare thing.
    var speaksOfAll: Bool { run == nil && plan.roots.allSatisfy(isWholeEntityScope) }

    /// Which rows of a table matter although no record is of them.
    func watch(_ table: SyncTable) -> StrayWatch {
        let isEnding = run?.isEnding == true
        return StrayWatch(
            watched: watchedLinks(table.tree), scope: wholeScope(of: table.id),
            speaksOfAll: speaksOfAll,
            keeping: isEnding ? { try unmentioned($0, table.id) } : nil)
    }

    /// Of strays those that no page of the run mentions.
    private func unmentioned(_ rows: [Strays.Row], _ table: TableID) throws -> [Strays.Row] {
        // Of a table there may be millions, one slice after the other.
        defer { spilledMarks.removeAll() }
        try loadMarks(of: rows.lazy.map { StoredRow(table: table, key: $0.key) })
        return try rows.filter { try !isMentionedBefore(StoredRow(table: table, key: $0.key)) }
    }

    /// Which of a table's foreign keys can lose rows to what the payload says of their targets.
    private func watchedLinks(_ tree: EntityTree) -> [Bool] {
        tree.foreignKeys.map { link in
            plan[link].replacements.contains { $0.end == .second }
                || (model[link].isOneToOne && !plan[link].assertions.isEmpty)
        }
    }

    /// Completes the strays of tables that were not read whole, and of links to hidden-key tables; drops those that
    /// turned out to be nodes.
    func collectStrays() throws {
        for table in tables {
            for (link, isWatched) in zip(table.tree.foreignKeys, watchedLinks(table.tree)) where isWatched {
                try collectStrays(table, model[link])
            }
            dropMatchedStrays(table)
        }
    }

    private func collectStrays(_ table: SyncTable, _ link: Link) throws {
        let second = tables[link.second.table]
        // A row that is known by its owner was met after the rows that point to it were seen.
        if table.met.isScanned, !second.hasHiddenKey, second.batch.owners.isEmpty { return }
        let known = Set(table.met.strays.pointers.lazy.filter { $0.link == link.id }.map(\.target))
        var nodes: [RowKey: NodeID] = [:]
        for target in strayTargets(link).subtracting(known) where second.isPresent(target, as: .stored) {
            if let key = second.rowKey(target) { nodes[key] = target }
        }
        guard !nodes.isEmpty else { return }
        let found = try store.links(of: Array(nodes.keys), link, from: .second).filter {
            table.node(of: $0.other) == nil
        }
        if table.tree.hasSubEntities {
            try identities.load(found.lazy.map { StoredRow(table: table.id, key: $0.other) })
        }
        for stored in found {
            guard let target = nodes[stored.row] else { continue }
            let row = StoredRow(table: table.id, key: stored.other)
            let entity = table.tree.hasSubEntities ? try identities[row]?.entity : nil
            table.met.strays.pointers.append(.init(row: table.met.strays.rows.count, link: link.id, target: target))
            table.met.strays.rows.append(.init(key: stored.other, entity: entity ?? table.tree.root))
        }
    }

    /// The second-end nodes of a link that can lose rows.
    private func strayTargets(_ link: Link) -> Set<NodeID> {
        var targets = Set(plan[link.id].replacements.lazy.filter { $0.end == .second }.map(\.node))
        if link.isOneToOne { targets.formUnion(plan[link.id].assertions.map(\.second)) }
        return targets
    }

    private func dropMatchedStrays(_ table: SyncTable) {
        guard table.keys.hasOwned, !table.met.strays.rows.isEmpty else { return }
        let dropped = Set(
            table.met.strays.rows.indices.filter { table.keys.owned(table.met.strays.rows[$0].key) != nil })
        table.met.strays.pointers.removeAll { dropped.contains($0.row) }
        for index in dropped { table.met.strays.rows[index].isNode = true }
    }
}
