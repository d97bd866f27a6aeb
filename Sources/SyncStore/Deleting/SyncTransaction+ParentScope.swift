import SyncCore

// The scope of a payload that lists the rows of a parent: those the parent had before.
extension SyncTransaction {
    /// The rows to delete: those that the payload does not mention and that can have no other owner. Of the others that
    /// it does not list the links go.
    mutating func parentScopeRows(_ parent: ChangePlan.Parent) throws -> Set<StoredRow> {
        guard let owner = tables[parent.table].row(parent.node) else { return [] }
        let left = try rowsLeftOut(by: parent)
        if let root = plan.roots.first, isUnread(root) {
            skippedDeletions[root.entity, default: 0] += left.count
            return []
        }
        let link = model[parent.link]
        // Each of its pairs is stored in the other direction, too.
        if link.isSymmetric { try links.load([owner.key], parent.link, from: .second) }
        var doomed: Set<StoredRow> = []
        for row in left {
            if try !isMentioned(row), link.storage == .foreignKey {
                guard try !hasMoved(row, from: owner, parent) else { continue }
                doomed.insert(row)
                leaving[row].leftOut.insert(parent.link)
            } else {
                try unlink(row, from: owner, parent)
            }
        }
        return doomed
    }

    /// The rows that the parent had, in scope, and that the payload does not list.
    private func rowsLeftOut(by parent: ChangePlan.Parent) throws -> [StoredRow] {
        let table = rootEntity.table
        let listed = listedRows(parent)
        var rows = parentRows.map { StoredRow(table: table, key: $0) }.filter { !listed.contains($0) }
        try loadMarks(of: rows)
        rows = try rows.filter { try !isListed($0) }
        if let predicate {
            try writeLinks()
            let inScope = try store.rows(among: rows.map(\.key), of: rootEntity, where: predicate)
            rows = rows.filter { inScope.contains($0.key) }
        }
        try identities.load(rows)
        rows = try rows.filter { row in
            guard try !identities.isUnsent(row) else { return false }
            guard tables[table].tree.hasSubEntities else { return true }
            return try identities[row].map { model.entity($0.entity, isKindOf: plan.entity) } ?? false
        }
        try links.load(rows.map(\.key), parent.link, from: parent.end.other)
        return rows
    }

    /// Whether a row that nothing mentions has another owner by now: one it waited for.
    private func hasMoved(_ row: StoredRow, from owner: StoredRow, _ parent: ChangePlan.Parent) throws -> Bool {
        let owners = try links.targets(of: row.key, parent.link, from: parent.end.other)
        return !owners.isEmpty && !owners.contains(owner.key)
    }

    /// The rows that the payload says are the parent's. A root record lists its row also where it may not be written.
    func listedRows(_ parent: ChangePlan.Parent) -> Set<StoredRow> {
        let table = tables[rootEntity.table]
        var listed: Set<StoredRow> = []
        for assertion in plan[parent.link].assertions
        where assertion.sequence == 0 || records.standing(assertion) != .none {
            let (owner, child) = assertion.ends(from: parent.end)
            if owner == parent.node, let row = table.row(child) { listed.insert(row) }
        }
        return listed
    }

    private mutating func unlink(_ row: StoredRow, from owner: StoredRow, _ parent: ChangePlan.Parent) throws {
        let link = model[parent.link]
        guard link.storage == .joinTable else {
            let (child, target) = parent.end == .first ? (owner, row) : (row, owner)
            guard try links.target(of: child.key, parent.link) == target.key else { return }
            return try unlink(child, [parent.link])
        }
        for end in link.isSymmetric ? [parent.end, parent.end.other] : [parent.end] {
            let pair = LinkMemory.pair(owner.key, row.key, end)
            guard try links.remove(pair, parent.link) else { continue }
            try bookRemoved(link, of: owner, at: end, to: row.key)
        }
    }
}
