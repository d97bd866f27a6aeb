import SyncCore

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
