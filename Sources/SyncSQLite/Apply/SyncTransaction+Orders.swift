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
        let statements = statements(of: link.id)
        let spoken = statements.spokenEnd(end)
        let tree = link.side(end).tree
        let joined = joinedOwners(link, end)
        let leaving = leavingOwners(link, end)
        var lists: [Int32: Set<RowKey>] = [:]
        for assertion in statements.stated where assertion.saidBy == end && assertion.position >= 0 {
            let (owner, child) = assertion.ends(from: end)
            let childTree = link.side(end.other).tree
            let isAlone = trees[tree].presence[Int(owner)] == .new || spoken.speaks(of: owner)
            guard !isAlone || joined.contains(owner) || leaving.contains(owner),
                let key = trees[childTree].rowKey(Int(child), plan.rows[childTree], pool)
            else { continue }
            lists[owner, default: []].insert(key)
        }
        for (owner, list) in lists {
            try advance()
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
        guard let stored = try storedLinks.list(of: owner.key, link, end) else { return }
        let isParent = link == plan.parent?.link && end == plan.parent?.end
        let tree = model.links[link].side(end.other).tree
        var last: Int64 = -1
        var others: [(row: RowKey, place: Int64?)] = []
        for (row, place) in stored {
            let isListed = try list.contains(row) || (isParent && isListed(StoredRow(tree: tree, key: row)))
            if isListed { last = max(last, place ?? -1) } else { others.append((row, place)) }
        }
        guard others.contains(where: { $0.place.map { $0 <= last } ?? true }) else { return }
        for (index, other) in others.enumerated() {
            try storedLinks.setPlace(last + 1 + Int64(index), of: other.row, in: owner.key, link, end)
        }
    }
}

extension LinkBatch.Assertion {
    /// The nodes of a link, the one whose list it is in first.
    fileprivate func ends(from end: Link.End) -> (owner: Int32, child: Int32) {
        end == .first ? (first, second) : (second, first)
    }
}
