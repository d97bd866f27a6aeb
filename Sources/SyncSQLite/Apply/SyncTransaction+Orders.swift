import GRDB
import SyncCore

// A list that does not replace the links of its owner, because the operations or a scope keep others: those come after
// the listed ones, in the order they had.
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
        var lists: [Int32: [RowKey: Int64]] = [:]
        for assertion in plan.links[link.id].assertions
        where assertion.saidBy == end && assertion.position >= 0 && standing(assertion) != .none {
            let (owner, child) =
                end == .first ? (assertion.first, assertion.second) : (assertion.second, assertion.first)
            let childTree = link.side(end.other).tree
            guard trees[tree].presence[Int(owner)] == .stored, replaced.at(owner) < 0, isPresent(child, childTree),
                let key = trees[childTree].rowKey(Int(child), plan.rows[childTree], pool)
            else { continue }
            lists[owner, default: [:]][key] = Int64(assertion.position)
        }
        for (owner, list) in lists {
            try checkCancellation()
            guard let key = trees[tree].rowKey(Int(owner), plan.rows[tree], pool) else { continue }
            try settleOrder(of: StoredRow(tree: tree, key: key), link.id, end, list)
        }
    }

    private func settleOrder(of owner: StoredRow, _ link: Int, _ end: Link.End, _ list: [RowKey: Int64]) throws {
        let (table, mine, other, order) = orderColumns(link, end)
        guard let order, let last = list.values.max() else { return }
        let select = try statements.statement(
            "SELECT \(other), \(order) FROM \(table) WHERE \(mine) = ? ORDER BY \(order), \(other)")
        select.bind(owner.key, at: 1)
        var others: [(key: RowKey, order: Int64?)] = []
        while try select.step() {
            guard let key = select.key(0), list[key] == nil else { continue }
            others.append((key, select.isNull(1) ? nil : select.integer(1)))
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
    private func orderColumns(
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
