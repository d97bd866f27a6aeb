import GRDB
import SyncCore

// The scope of a payload that lists the rows of a parent: those the parent had before.
extension SyncTransaction {
    /// The rows to delete: those that the payload does not mention and that can have no other owner. Of the others that
    /// it does not list the links go.
    mutating func parentScopeRows(_ parent: ChangePlan.Parent, _ tree: Int) throws -> Set<StoredRow> {
        guard let key = trees[parent.tree].rowKey(parent.node, plan.rows[parent.tree], pool) else { return [] }
        let owner = StoredRow(tree: parent.tree, key: key)
        let scope = predicate == nil ? nil : try RowsInScope(self)
        let listed = listedRows(parent, tree)
        var doomed: Set<StoredRow> = []
        for row in parentRows.map({ StoredRow(tree: tree, key: $0) }) {
            guard !listed.contains(row), try !isListed(row), try isInScope(row, scope) else { continue }
            if try !isMentioned(row), model.links[parent.link].storage == .foreignKey {
                guard try !hasMoved(row, from: owner, parent) else { continue }
                doomed.insert(row)
                leaving[row].leftOut.insert(parent.link)
            } else {
                try unlink(row, from: owner, parent)
            }
        }
        return doomed
    }

    /// Whether a row that nothing mentions has another owner by now: one it waited for.
    private func hasMoved(_ row: StoredRow, from owner: StoredRow, _ parent: ChangePlan.Parent) throws -> Bool {
        let owners = try storedLinks.targets(of: row, parent.link, from: parent.end.other)
        return !owners.isEmpty && !owners.contains(owner.key)
    }

    private func isInScope(_ row: StoredRow, _ scope: RowsInScope?) throws -> Bool {
        if let scope, try !scope.contains(row) { return false }
        guard try !isLocal(row) else { return false }
        guard columns[row.tree].entity != nil else { return true }
        return try identity(of: row).map { model.entity($0.entity, isKindOf: plan.entity) } ?? false
    }

    /// The rows that the payload says are the parent's. A root record lists its row also
    /// where it may not be written.
    func listedRows(_ parent: ChangePlan.Parent, _ tree: Int) -> Set<StoredRow> {
        var listed: Set<StoredRow> = []
        for assertion in plan.links[parent.link].assertions
        where assertion.sequence == 0 || records.standing(assertion) != .none {
            let (owner, child) =
                parent.end == .first ? (assertion.first, assertion.second) : (assertion.second, assertion.first)
            guard Int(owner) == parent.node, let key = trees[tree].rowKey(Int(child), plan.rows[tree], pool) else {
                continue
            }
            listed.insert(StoredRow(tree: tree, key: key))
        }
        return listed
    }

    private mutating func unlink(_ row: StoredRow, from owner: StoredRow, _ parent: ChangePlan.Parent) throws {
        guard model.links[parent.link].storage == .joinTable else {
            let (child, target) = parent.end == .first ? (owner, row) : (row, owner)
            guard try storedLinks.target(of: child, parent.link) == target.key else { return }
            return try unlink(child, [parent.link])
        }
        let ends = model.links[parent.link].isSymmetric ? [parent.end, parent.end.other] : [parent.end]
        for end in ends {
            guard try storedLinks.removePair(of: owner.key, parent.link, at: end, to: row.key) else { continue }
            try bookRemoved(parent.link, of: owner, at: end, to: row.key)
        }
    }
}
