import GRDB
import SyncCore

// Rows that are linked beside a list come after the listed ones, in the order they had: a list does not replace the links
// of its owner where the operations or a scope keep others, and other rows may say that they are linked to it too.
extension SyncTransaction {
    mutating func settleOrders() throws {
        for link in model.links {
            for end in [Link.End.first, .second] where link.side(end).isOrdered && !plan.links[link.id].isEmpty {
                try settleOrders(link, end)
            }
        }
    }

    private mutating func settleOrders(_ link: Link, _ end: Link.End) throws {
        let replaced = replaced(link.id, end)
        let tree = link.side(end).tree
        let joined = joinedOwners(link, end)
        let leaving = leavingOwners(link, end)
        var lists: [Int32: Set<RowKey>] = [:]
        for assertion in plan.links[link.id].assertions
        where assertion.saidBy == end && assertion.position >= 0 && standing(assertion) != .none {
            let (owner, child) = assertion.ends(from: end)
            let childTree = link.side(end.other).tree
            let isAlone = trees[tree].presence[Int(owner)] == .new || replaced.at(owner) >= 0
            guard !isAlone || joined.contains(owner) || leaving.contains(owner), isPresent(owner, tree),
                isPresent(child, childTree), let key = trees[childTree].rowKey(Int(child), plan.rows[childTree], pool)
            else { continue }
            lists[owner, default: []].insert(key)
        }
        for (owner, list) in lists {
            try checkCancellation()
            guard let key = trees[tree].rowKey(Int(owner), plan.rows[tree], pool) else { continue }
            try settleOrder(of: StoredRow(tree: tree, key: key), link.id, end, list)
        }
    }

    /// The owners that rows of the other side say they are linked to.
    private func joinedOwners(_ link: Link, _ end: Link.End) -> Set<Int32> {
        var owners: Set<Int32> = []
        for assertion in plan.links[link.id].assertions where assertion.saidBy != end {
            owners.insert(assertion.ends(from: end).owner)
        }
        return owners
    }

    /// The owners whose rows a list left out, which stay until the end of the run: a later page may say that they stay
    /// for good.
    private func leavingOwners(_ link: Link, _ end: Link.End) -> Set<Int32> {
        guard end == .second, let unlisted = run?.unlisted, !unlisted.isEmpty else { return [] }
        let keys = Set(unlisted.filter { $0.link == link.id }.map(\.owner))
        return Set(keys.compactMap { node(of: $0, link.second.tree) })
    }

    private func settleOrder(of owner: StoredRow, _ link: Int, _ end: Link.End, _ list: Set<RowKey>) throws {
        let (table, mine, other, order) = orderColumns(link, end)
        guard let order else { return }
        let select = try statements.statement(
            "SELECT \(other), \(order) FROM \(table) WHERE \(mine) = ? ORDER BY \(order), \(other)")
        select.bind(owner.key, at: 1)
        let isParent = link == plan.parent?.link && end == plan.parent?.end
        let tree = model.links[link].side(end.other).tree
        var last: Int64 = -1
        var others: [(key: RowKey, order: Int64?)] = []
        while try select.step() {
            guard let key = select.key(0) else { continue }
            let order = select.isNull(1) ? nil : select.integer(1)
            let isListed = try list.contains(key) || (isParent && isListed(StoredRow(tree: tree, key: key)))
            if isListed { last = max(last, order ?? -1) } else { others.append((key, order)) }
        }
        select.reset()
        guard others.contains(where: { $0.order.map { $0 <= last } ?? true }) else { return }
        let update = try statements.statement("UPDATE \(table) SET \(order) = ? WHERE \(mine) = ? AND \(other) = ?")
        for (index, row) in others.enumerated() {
            update.bind(last + 1 + Int64(index), at: 1)
            update.bind(owner.key, at: 2)
            update.bind(row.key, at: 3)
            try update.execute()
        }
    }

    /// The table with the links of one end, and its columns for the owner, the other row and its place.
    func orderColumns(
        _ link: Int, _ end: Link.End
    ) -> (table: String, mine: String, other: String, order: String?) {
        switch layout.links[link] {
        case .foreignKey(let table, let column, let order):
            return (table.quoted, column.quoted, columns[model.links[link].first.tree].keyColumn, order?.quoted)
        case .joinTable(let name, let first, let second, let firstOrder, let secondOrder):
            return end == .first
                ? (name.quoted, first.quoted, second.quoted, firstOrder?.quoted)
                : (name.quoted, second.quoted, first.quoted, secondOrder?.quoted)
        }
    }
}

extension LinkBatch.Assertion {
    /// The nodes of a link, the one whose list it is in first.
    fileprivate func ends(from end: Link.End) -> (owner: Int32, child: Int32) {
        end == .first ? (first, second) : (second, first)
    }
}
