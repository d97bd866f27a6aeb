package import SyncCore
package import SyncStore

// Matches stored rows with nodes, and compares their values.
extension MemorySession {
    package func match(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws {
        var matched: Set<RowKey> = []
        for entity in Set(table.nodes.map { table.payloadEntity(of: $0).id }).sorted() {
            let keys = contents.rowKeys(of: model.entities[entity])
            for node in table.nodes where table.payloadEntity(of: node).id == entity {
                guard model.entities[entity].isKeyed, let key = RowKey(table.batch.nodes[node.index].key, table.pool),
                    let row = keys[key]
                else { continue }
                match(node, with: row, table, pass)
                matched.insert(row)
            }
        }
        if pass != .diff { collectUnmatchedRows(table, watch, except: matched) }
        try advance(by: contents.rows(of: table.id).count)
    }

    package func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws {
        for (node, key) in rows { match(node, with: key, table, pass) }
        try advance(by: rows.count)
    }

    private func match(_ node: NodeID, with key: RowKey, _ table: SyncTable, _ pass: MatchPass) {
        guard let row = contents[StoredRow(table: table.id, key: key)] else { return }
        if pass != .diff { record(row, at: key, as: node, table) }
        if pass != .match, table.isPresent(node, as: .stored) { compare(row, with: node, table) }
    }

    /// Records the state, entity and foreign keys of a matched row.
    private func record(_ row: MemoryRow, at key: RowKey, as node: NodeID, _ table: SyncTable) {
        let given = table.batch.nodes[node.index]
        if !table.matches.entities.isEmpty {
            if given.isGiven, !model.entity(row.entity, isKindOf: Int(given.entity)) {
                table.matches.mismatches.append((node, row.entity))
            }
            table.matches.entities[node.index] = Int32(truncatingIfNeeded: row.entity)
        }
        table.matches.rowStates[node.index] = .stored
        if table.hasSurrogateKey, case .integer(let surrogate) = key {
            table.keys.match(node, surrogate: surrogate)
        }
        for (index, id) in table.hierarchy.foreignKeys.enumerated() {
            recordTarget(row.targets[index], of: node, index, table)
            guard model[id].hasPositions(.second) else { continue }
            if table.matches.foreignKeys[index].positions.isEmpty {
                table.matches.foreignKeys[index].positions = table.nodes.map { _ in nil }
            }
            table.matches.foreignKeys[index].positions[node.index] = row.positions[index]
        }
    }

    private func recordTarget(_ target: RowKey?, of node: NodeID, _ index: Int, _ table: SyncTable) {
        guard let target, let second = tables?[model[table.hierarchy.foreignKeys[index]].second.table] else { return }
        if second.hasSurrogateKey {
            // The referenced row may be matched later.
            if table.matches.foreignKeys[index].surrogateTargets.isEmpty {
                table.matches.foreignKeys[index].surrogateTargets = table.nodes.map { _ in nil }
            }
            if case .integer(let surrogate) = target {
                table.matches.foreignKeys[index].surrogateTargets[node.index] = surrogate
            }
        } else if let other = second.node(of: target) {
            table.matches.foreignKeys[index].targets[node.index] = LinkTarget(other)
        } else {
            table.matches.foreignKeys[index].targets[node.index] = .unmatched
            if !second.batch.owners.isEmpty { table.matches.foreignKeys[index].targetsWithoutNode[node] = target }
        }
    }

    /// Records the attributes whose values differ from the payload. A row that was matched by its key has the same key.
    private func compare(_ row: MemoryRow, with node: NodeID, _ table: SyncTable) {
        guard table.values.exist(for: node) else { return }
        let isMatchedByKey = table.batch.nodes[node.index].ownerIndex == nil
        for (slot, attribute) in table.hierarchy.attributes.enumerated() {
            if isMatchedByKey, slot == table.hierarchy.keySlot { continue }
            guard let value = StoredValue(table.value(slot, of: node), as: attribute.type, table.pool) else { continue }
            if value != row.values[slot] { table.matches.changed.insert(slot, of: node) }
        }
    }

    // MARK: Unmatched rows

    /// Collects the rows without a node that are of the entity in scope, or that reference a node by a watched foreign
    /// key.
    private func collectUnmatchedRows(_ table: SyncTable, _ watch: UnmatchedRowFilter, except matched: Set<RowKey>) {
        table.matches.isScanned = true
        let rows = contents.rows(of: table.id)
        for key in rows.keys.sorted(by: { $0.isBefore($1) }) where !matched.contains(key) {
            guard let row = rows[key] else { continue }
            let targets = table.hierarchy.foreignKeys.indices.compactMap { index in
                watch.watched[index] ? self.target(of: row, index, table) : nil
            }
            guard !targets.isEmpty || watch.scope.map({ model.entity(row.entity, isKindOf: $0) }) ?? false else {
                continue
            }
            let number = table.matches.unmatchedRows.rows.count
            table.matches.unmatchedRows.references += targets.map {
                UnmatchedRows.Reference(row: number, link: $0.link, target: $0.node)
            }
            table.matches.unmatchedRows.rows.append(.init(key: key, entity: row.entity))
        }
    }

    /// Returns the node that a foreign key of an unmatched row references. Rows with surrogate keys may be matched
    /// later, so the sync reads the references to them.
    private func target(of row: MemoryRow, _ index: Int, _ table: SyncTable) -> (link: AssociationID, node: NodeID)? {
        let id = table.hierarchy.foreignKeys[index]
        guard let target = row.targets[index], let second = tables?[model[id].second.table], !second.hasSurrogateKey
        else { return nil }
        return second.node(of: target).map { (id, $0) }
    }
}
