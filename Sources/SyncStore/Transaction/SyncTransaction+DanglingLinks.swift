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
            for pair in dangling.pairs {
                addOrphan(pair.first, link.first.table)
                addOrphan(pair.second, link.second.table)
            }
            guard link.storage == .foreignKey else { continue }
            let rows = dangling.pairs.compactMap(\.first).map { StoredRow(table: link.first.table, key: $0) }
            try history?.keep(rows)
            for row in rows { leaving[row].mended.formUnion([link.first.relationship?.name].compactMap { $0 }) }
        }
        if !found.isEmpty { try store.removeDangling(found.map(\.link)) }
        for dangling in found { recordRemoved(dangling) }
    }

    private mutating func addOrphan(_ key: RowKey?, _ table: TableID) {
        if let key, tables[table].hasHiddenKey { leaving.addOrphan(StoredRow(table: table, key: key)) }
    }

    private mutating func recordRemoved(_ dangling: DanglingJoinRows) {
        let link = model[dangling.link]
        if link.storage == .foreignKey { removeTargets(of: dangling.pairs.compactMap(\.first), link) }
        let side = link.first.relationship == nil ? link.second : link.first
        let name = side.relationship.map { "\(model.entities[side.entity].name).\($0.name)" } ?? ""
        let count = dangling.pairs.count
        report.add(
            .danglingLinks, side.entity, key: nil, path: "",
            "\(count) dangling link\(count == 1 ? "" : "s") of \(name) \(count == 1 ? "was" : "were") removed: "
                + "the referenced row\(count == 1 ? " is" : "s are") not stored")
    }

    /// Removes foreign keys and references that were read before the rows lost their links.
    private func removeTargets(of rows: [RowKey], _ link: CompiledAssociation) {
        let table = tables[link.first.table]
        guard let index = table.foreignKey(link.id) else { return }
        var strays: Set<RowKey> = []
        for row in rows {
            guard let node = table.node(of: row) else {
                strays.insert(row)
                continue
            }
            table.met.foreignKeys[index].targets[node.index] = .nowhere
            if !table.met.foreignKeys[index].places.isEmpty { table.met.foreignKeys[index].places[node.index] = nil }
        }
        let known = table.met.strays.rows
        table.met.strays.pointers.removeAll { $0.link == link.id && strays.contains(known[$0.row].key) }
    }

    /// Reports rows that lost a dangling link as updated, if they are still stored.
    mutating func reportMendedRows() throws {
        let mended = leaving.rows { !$0.mended.isEmpty }
        guard !mended.isEmpty else { return }
        try identities.load(mended)
        for row in mended {
            if let found = try identities[row] { recordUpdate(found, row, leaving[row].mended.sorted()) }
        }
    }
}
