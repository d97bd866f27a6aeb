import SyncCore

// A root record with a key that cannot be read may be of any row of its entity: none of them is deleted for being left out.
extension SyncTransaction {
    /// How many records of a list have such a key, in the payload and in earlier pages of its run, and where the first is.
    private func unread(_ root: ChangePlan.Root) -> (count: Int, first: String) {
        let before = run?.unread[root.entity]
        let first = before?.first ?? root.firstUnread
        return (root.unread + (before?.count ?? 0), first)
    }

    /// Whether the rows that a list leaves out stay, because one of its records may be of them.
    func isUnread(_ root: ChangePlan.Root) -> Bool { !options.deletesBesideUnread && unread(root).count > 0 }

    /// The tables of rows that records may be of whose keys cannot be read.
    var doubtfulTables: Set<TableID> {
        if options.deletesBesideUnread { return [] }
        return Set(plan.roots.lazy.filter(isUnread).map { model.entities[$0.entity].table })
    }

    /// Rows that lists leave out lose their links, and stay.
    mutating func spareDoubtfulRows() throws {
        let tables = doubtfulTables
        guard !tables.isEmpty else { return }
        let rows = leaving.leftOut.filter { tables.contains($0.table) }
        guard !rows.isEmpty else { return }
        try identities.load(rows)
        try loadTargets(of: rows) { $0.leftOut.union($0.unlinked) }
        for row in rows {
            let links = leaving[row].leftOut.union(leaving[row].unlinked)
            leaving[row].leftOut = []
            try unlink(row, links)
            guard let found = try identities[row],
                let root = plan.roots.first(where: { isUnread($0) && model.areKin(found.entity, $0.entity) })
            else { continue }
            skippedDeletions[root.entity, default: 0] += 1
        }
    }

    /// Says how many rows stay.
    mutating func reportSkippedDeletions() {
        for root in plan.roots {
            guard let rows = skippedDeletions.removeValue(forKey: root.entity), rows > 0 else { continue }
            let (count, first) = unread(root)
            let found = count == 1 ? "a record has a key" : "\(count) records have keys"
            report.add(
                .deletionsSkipped, root.entity, key: nil, path: first,
                "\(found) that cannot be read; so \(rows) left out \(rows == 1 ? "row is" : "rows are") not deleted")
        }
    }
}

extension CompiledModel {
    /// Whether one of two entities is the other, or inherits from it.
    fileprivate func areKin(_ one: Int, _ other: Int) -> Bool {
        entity(one, isKindOf: other) || entity(other, isKindOf: one)
    }
}
