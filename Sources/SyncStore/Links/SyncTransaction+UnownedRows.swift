import SyncCore

// New rows that are known only by their owner live and die with the link to it.
extension SyncTransaction {
    /// New rows known only by their owner, which a later statement took the owner from, are not stored.
    func dropUnownedRows() {
        var pairs: [LinkID: LinkPairs] = [:]
        var dropped: Set<ChangePlan.RowReference> = []
        for row in plan.ownedRows where tables[row.table].isPresent(row.node, as: .new) {
            guard let owner = owner(of: row) else { continue }
            if model[owner.link].storage == .joinTable {
                let said = pairs[owner.link] ?? LinkPairs(statements(of: owner.link))
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

    private func clearTargets(_ dropped: Set<ChangePlan.RowReference>) {
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

    private func isOwned(_ row: ChangePlan.RowReference, _ owner: RowBatch.Owner) -> Bool {
        let first = tables[model[owner.link].first.table]
        guard let index = first.foreignKey(owner.link) else { return true }
        let (child, target) = owner.end == .first ? (owner.node, row.node) : (row.node, owner.node)
        return first.isPresent(child) && first.foreignKeys[index].targets[child.index] == LinkTarget(target)
            && tables[owner.table].isPresent(owner.node)
    }
}
