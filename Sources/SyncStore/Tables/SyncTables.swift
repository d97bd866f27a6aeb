package import SyncCore

/// The tables of a sync.
package struct SyncTables: Sequence {
    private let tables: [SyncTable]

    package init(_ plan: ChangePlan, _ pool: TextPool) {
        tables = plan.model.trees.map { SyncTable($0, plan[$0.id], plan.model, pool) }
    }

    package subscript(id: TableID) -> SyncTable { tables[id.index] }

    package func makeIterator() -> IndexingIterator<[SyncTable]> { tables.makeIterator() }

    /// The node of a stored row.
    package func node(of row: StoredRow) -> NodeID? { self[row.table].node(of: row.key) }

    /// The plan has made nodes one.
    func replaceBatches(_ plan: ChangePlan) {
        for table in tables { table.replaceBatch(plan[table.id]) }
    }

    /// Foreign keys to rows that were met only after the rows that point to them.
    func resolveTargets() {
        for table in tables {
            for (index, link) in table.tree.foreignKeys.enumerated() {
                resolveTargets(of: table, index, keys: self[table.model[link].second.table].keys)
            }
        }
    }

    private func resolveTargets(of table: SyncTable, _ index: Int, keys: RowKeys) {
        for (node, key) in table.met.foreignKeys[index].unnamedTargets {
            if let target = keys.owned(key) { table.met.foreignKeys[index].targets[node.index] = LinkTarget(target) }
        }
        for (node, hidden) in table.met.foreignKeys[index].hiddenTargets.enumerated() {
            guard let hidden else { continue }
            table.met.foreignKeys[index].targets[node] =
                keys.node(ofHidden: hidden).map(LinkTarget.init) ?? .unmentioned
        }
    }
}
