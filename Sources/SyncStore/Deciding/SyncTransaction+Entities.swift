import SyncCore

// A row that an earlier page inserted is new until the run ends: a record that gives it as a sub-entity makes it one.
extension SyncTransaction {
    func refineEntities() throws {
        guard run != nil else { return }
        try loadMarks(
            of: tables.lazy.filter { !$0.hasHiddenKey }.flatMap { table in table.nodes.compactMap(table.row) })
        for table in tables where table.tree.hasSubEntities { try refineEntities(table) }
    }

    private func refineEntities(_ table: SyncTable) throws {
        var inserted: [(node: NodeID, row: StoredRow)] = []
        for (node, row) in try rowsByKey(table) {
            try steps.advance()
            if try marks(of: row).contains(.inserted) { inserted.append((node, row)) }
        }
        try identities.load(inserted.map(\.row))
        var refined: [(key: RowKey, entity: CompiledEntity, added: [Int])] = []
        for (node, row) in inserted {
            let wanted = table.wantedEntity(of: node)
            guard let found = try identities[row], found.entity != wanted.id,
                model.entity(wanted.id, isKindOf: found.entity)
            else { continue }
            let added = wanted.slots.filter { !model.entities[found.entity].slots.contains($0) }
            guard added.allSatisfy({ !table.lacksValue($0, of: node) }) else { continue }
            refined.append((row.key, wanted, added))
        }
        if !refined.isEmpty { try store.refine(refined, in: table.id) }
        identities.removeAll()
    }

    /// The rows of nodes that a record gives and that have a key.
    private func rowsByKey(_ table: SyncTable) throws -> [(node: NodeID, row: StoredRow)] {
        let batch = table.batch
        let given = table.nodes.filter { batch.nodes[$0.index].isGiven && table.wantedEntity(of: $0).isKeyed }
        var found: [(node: NodeID, row: StoredRow)] = []
        guard table.hasHiddenKey else {
            for node in given { if let row = table.row(node) { found.append((node, row)) } }
            return found
        }
        for (entity, nodes) in Dictionary(grouping: given, by: { table.wantedEntity(of: $0).id }) {
            let keyed = nodes.compactMap { node in
                RowKey(batch.nodes[node.index].key, pool).map { (node: node, key: $0) }
            }
            let rows = try store.rows(withKeys: keyed.map(\.key), of: model.entities[entity])
            for ((node, _), row) in zip(keyed, rows) {
                if let row { found.append((node, StoredRow(table: table.id, key: row))) }
            }
        }
        return found
    }
}
