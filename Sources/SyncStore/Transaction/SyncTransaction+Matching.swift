import SyncCore

// Matches nodes with stored rows: by key, or by position among the rows of their owner.
extension SyncTransaction {
    mutating func matchRows() throws {
        // Values are compared in the same pass, unless the sync must decide first which records are effective.
        let pass: MatchPass = graph.occurrences.isEmpty ? .both : .match
        for table in tables where !table.isEmpty || coversAllRows(of: table.id) {
            try store.match(table, pass, unmatchedRowFilter(for: table))
            reportMismatches(table)
        }
        try matchOwnedRows(pass)
        try mergeDuplicates(pass)
        tables.resolveTargets()
        try collectUnmatchedRows()
    }

    /// Compares values in a second pass, after the effective records are decided.
    mutating func compareRows() throws {
        let none = UnmatchedRowFilter(watched: [], scope: nil, coversAll: false)
        for table in tables where !table.isEmpty { try store.match(table, .diff, none) }
        let owned = graph.ownedRows.filter { tables[$0.table].isPresent($0.node, as: .stored) }
        for (table, rows) in Dictionary(grouping: owned, by: \.table) {
            let known = rows.compactMap { row in tables[table].rowKey(row.node).map { (node: row.node, key: $0) } }
            try store.match(known, tables[table], .diff)
        }
    }

    /// Skips nodes whose stored row is of another entity, and reports them.
    private mutating func reportMismatches(_ table: SyncTable) {
        for (node, entity) in table.matches.mismatches {
            table.skip(node)
            report.add(
                .entityMismatch, table.payloadEntity(of: node).id,
                key: RowKey(table.batch.nodes[node.index].key, pool), path: path(of: node, table),
                "the stored row with this key is of entity \(model.entities[entity].name); the record is skipped")
        }
        table.matches.mismatches = []
    }

    /// Returns the path of the first record of a node.
    func path(of node: NodeID, _ table: SyncTable) -> String {
        let given = table.batch.nodes[node.index]
        return given.isGiven ? graph.path(of: Int(table.batch.occurrence(ofVersion: given.firstVersion)), pool) : ""
    }

    // MARK: Rows without a key

    /// The number of rows to match at once.
    private static let ownedAtOnce = 8192

    private mutating func matchOwnedRows(_ pass: MatchPass) throws {
        for level in ownedLevels() {
            for start in stride(from: 0, to: level.count, by: Self.ownedAtOnce) {
                try match(level[start..<min(start + Self.ownedAtOnce, level.count)], pass)
            }
        }
    }

    /// Returns the owner of a node without a key, with the association; nil for a node with a key.
    func owner(of row: PayloadGraph.RowReference) -> NodeBatch.OwnerLink? {
        let batch = graph[row.table]
        return batch.nodes[row.node.index].ownerIndex.map { batch.owners[$0] }
    }

    /// Returns the nodes without a key in levels. The owners of the first level have keys. The owners of each further
    /// level are in the level before it.
    private func ownedLevels() -> [[PayloadGraph.RowReference]] {
        let owning = owningTables()
        var depths: [PayloadGraph.RowReference: Int] = [:]
        var levels: [[PayloadGraph.RowReference]] = []
        for row in graph.ownedRows {
            guard let owner = owner(of: row) else { continue }
            let isOwned = graph[owner.table].nodes[owner.node.index].ownerIndex != nil
            let depth = isOwned ? (depths[.init(table: owner.table, node: owner.node)] ?? -1) + 1 : 0
            if owning.contains(row.table) { depths[row] = depth }
            if depth == levels.count { levels.append([]) }
            levels[depth].append(row)
        }
        return levels
    }

    /// Returns the tables of the nodes that own nodes without a key.
    private func owningTables() -> Set<TableID> {
        var owning: Set<TableID> = []
        for hierarchy in model.hierarchies {
            var last: TableID?
            for owner in graph[hierarchy.id].owners where owner.table != last {
                last = owner.table
                owning.insert(owner.table)
            }
        }
        return owning
    }

    /// One owner, and the association through which it owns rows.
    private struct OwnerLink: Hashable {
        var link: AssociationID
        var end: CompiledAssociation.End
        var owner: RowKey
    }

    private mutating func match(_ level: ArraySlice<PayloadGraph.RowReference>, _ pass: MatchPass) throws {
        let owned = try ownedKeys(level)
        var claimed: [TableID: [(node: NodeID, key: RowKey)]] = [:]
        var claims: [StoredRow: NodeID] = [:]
        for row in level {
            guard let owner = owner(of: row), let ownerKey = storedKey(of: owner),
                let keys = owned[OwnerLink(link: owner.link, end: owner.end, owner: ownerKey)],
                Int(owner.position) < keys.count
            else { continue }
            let key = keys[Int(owner.position)]
            let table = tables[row.table]
            let known = claims[StoredRow(table: row.table, key: key)] ?? table.node(of: key)
            if let known, claims[StoredRow(table: row.table, key: key)] != nil || table.isPresent(known, as: .stored) {
                duplicates[row] = known
                // The node keeps the row key until the nodes that it owns are matched. It is then merged into the other
                // node.
                table.assign(key, to: row.node)
            } else {
                claims[StoredRow(table: row.table, key: key)] = row.node
                claimed[row.table, default: []].append((row.node, key))
            }
        }
        for (id, rows) in claimed.sorted(by: { $0.key.index < $1.key.index }) {
            let table = tables[id]
            try store.match(rows, table, pass)
            reportMismatches(table)
            for (node, key) in rows where table.isPresent(node, as: .stored) {
                table.keys.own(node, key)
            }
        }
    }

    private func storedKey(of owner: NodeBatch.OwnerLink) -> RowKey? {
        let table = tables[owner.table]
        return table.isPresent(owner.node, as: .stored) ? table.rowKey(owner.node) : nil
    }

    /// Returns the stored rows that the owners of these nodes own, in the order of their lists.
    private func ownedKeys(_ rows: ArraySlice<PayloadGraph.RowReference>) throws -> [OwnerLink: [RowKey]] {
        var found: [OwnerLink: [RowKey]] = [:]
        var asked: [AssociationID: PerEnd<[RowKey]>] = [:]
        for row in rows {
            guard let owner = owner(of: row), let key = storedKey(of: owner) else { continue }
            let link = OwnerLink(link: owner.link, end: owner.end, owner: key)
            guard found[link] == nil else { continue }
            found[link] = []
            asked[owner.link, default: PerEnd([], [])][owner.end].append(key)
        }
        for (link, owners) in asked {
            for end in [CompiledAssociation.End.first, .second] where !owners[end].isEmpty {
                for stored in try store.links(of: owners[end], model[link], from: end) {
                    found[OwnerLink(link: link, end: end, owner: stored.row)]?.append(stored.other)
                }
            }
        }
        return found
    }

    private mutating func mergeDuplicates(_ pass: MatchPass) throws {
        guard !duplicates.isEmpty else { return }
        mergeNodes()
        guard pass == .both else { return }
        for (id, merged) in Dictionary(grouping: duplicates, by: \.key.table) {
            let table = tables[id]
            let rows = Set(merged.map(\.value)).compactMap { node in table.rowKey(node).map { (node: node, key: $0) } }
            try store.match(rows, table, .diff)
        }
    }
}

// MARK: - Unmatched rows

// Collects unmatched rows: those in scope, and those that reference a node whose list is replaced.
extension SyncTransaction {
    /// Returns whether matching must read all stored rows of a table, because rows that the payload omits are deleted.
    func coversAllRows(of table: TableID) -> Bool { wholeScope(of: table) != nil }

    /// Returns the entity of a table whose rows are all in scope; nil if there is none. For several entities, returns
    /// the root of the hierarchy. Nil for a paged import: its end has no nodes to match, and reads the scope itself.
    private func wholeScope(of table: TableID) -> Int? {
        guard pagedImport == nil else { return nil }
        var scope: Int?
        for root in graph.roots where model.entities[root.entity].table == table && isWholeEntityScope(root) {
            scope = scope == nil || scope == root.entity ? root.entity : model[table].root
        }
        return scope
    }

    /// Returns whether all rows of the entity are in the scope of a root list.
    func isWholeEntityScope(_ root: PayloadGraph.RootList) -> Bool {
        deletesMissing(root) && predicate == nil && graph.parent == nil
            && (options.scope == .all || model.entities[root.entity].rootScope == nil)
    }

    /// Whether the payload is a snapshot of all rows. Stored links to rows that it omits are then rare.
    var coversAll: Bool { pagedImport == nil && graph.roots.allSatisfy(isWholeEntityScope) }

    /// Returns the filter for the unmatched rows of a table.
    func unmatchedRowFilter(for table: SyncTable) -> UnmatchedRowFilter {
        UnmatchedRowFilter(
            watched: watchedForeignKeys(table.hierarchy), scope: wholeScope(of: table.id), coversAll: coversAll)
    }

    /// Returns for each foreign key of a table whether unmatched rows can lose it, because the payload asserts links of
    /// the referenced rows.
    private func watchedForeignKeys(_ hierarchy: EntityHierarchy) -> [Bool] {
        hierarchy.foreignKeys.map { link in
            graph[link].replacements.contains { $0.end == .second }
                || (model[link].isOneToOne && !graph[link].assertions.isEmpty)
        }
    }

    /// Collects the unmatched rows that matching could not find. They are in tables that were not read completely, or
    /// have foreign keys to surrogate keys or to nodes without a key. Also marks the rows that were matched through
    /// their owners in the meantime.
    func collectUnmatchedRows() throws {
        for table in tables {
            for (link, isWatched) in zip(table.hierarchy.foreignKeys, watchedForeignKeys(table.hierarchy))
            where isWatched {
                try collectUnmatchedRows(table, model[link])
            }
            removeMatchedRows(table)
        }
    }

    private func collectUnmatchedRows(_ table: SyncTable, _ link: CompiledAssociation) throws {
        let second = tables[link.second.table]
        // Nodes without a key are matched after the rows that reference them were read.
        if table.matches.isScanned, !second.hasSurrogateKey, second.batch.owners.isEmpty { return }
        let known = Set(table.matches.unmatchedRows.references.lazy.filter { $0.link == link.id }.map(\.target))
        var nodes: [RowKey: NodeID] = [:]
        for target in unmatchedTargets(link).subtracting(known) where second.isPresent(target, as: .stored) {
            if let key = second.rowKey(target) { nodes[key] = target }
        }
        guard !nodes.isEmpty else { return }
        let found = try store.links(of: Array(nodes.keys), link, from: .second).filter {
            table.node(of: $0.other) == nil
        }
        if table.hierarchy.hasSubEntities {
            try identities.load(found.lazy.map { StoredRow(table: table.id, key: $0.other) })
        }
        for stored in found {
            guard let target = nodes[stored.row] else { continue }
            let row = StoredRow(table: table.id, key: stored.other)
            let entity = table.hierarchy.hasSubEntities ? try identities[row]?.entity : nil
            table.matches.unmatchedRows.references.append(
                .init(row: table.matches.unmatchedRows.rows.count, link: link.id, target: target))
            table.matches.unmatchedRows.rows.append(.init(key: stored.other, entity: entity ?? table.hierarchy.root))
        }
    }

    /// Returns the nodes at the second end of an association that may lose referencing rows.
    private func unmatchedTargets(_ link: CompiledAssociation) -> Set<NodeID> {
        var targets = Set(graph[link.id].replacements.lazy.filter { $0.end == .second }.map(\.node))
        if link.isOneToOne { targets.formUnion(graph[link.id].assertions.map(\.second)) }
        return targets
    }

    private func removeMatchedRows(_ table: SyncTable) {
        guard table.keys.hasOwned, !table.matches.unmatchedRows.rows.isEmpty else { return }
        let dropped = Set(
            table.matches.unmatchedRows.rows.indices.filter {
                table.keys.owned(table.matches.unmatchedRows.rows[$0].key) != nil
            })
        table.matches.unmatchedRows.references.removeAll { dropped.contains($0.row) }
        for index in dropped { table.matches.unmatchedRows.rows[index].isMatched = true }
    }
}
