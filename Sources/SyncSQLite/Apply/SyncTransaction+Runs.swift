import GRDB
import SyncCore

// Pages of a run delete nothing: what they leave out is kept in mind, and what no page mentioned goes at the end.
extension SyncTransaction {
    /// A payload that is all there is deletes what it leaves out; a page may not, and the end of a run may.
    private var isPage: Bool { run != nil && options.payload.run != nil }

    /// Whether anything in the payload, or in an earlier page of its run, mentions a stored row.
    func isMentioned(_ row: StoredRow) -> Bool {
        isNode(row.key, row.tree) || run?.seen.contains(row) ?? false
    }

    /// A row that its owner's list does not have any more: to be deleted, by a page unlinked if an earlier one
    /// mentioned it, else left where it is until the run ends.
    mutating func leaveOut(_ row: StoredRow, _ link: Int, owner: Int32) {
        guard isPage else {
            unlisted.insert(row)
            leftOut[row, default: []].insert(link)
            return
        }
        let tree = model.links[link].second.tree
        if run?.seen.contains(row) == true {
            unlinked[row, default: []].insert(link)
        } else if let key = trees[tree].rowKey(Int(owner), plan.rows[tree], pool) {
            run?.unlisted.insert(.init(row: row, link: link, owner: key))
        }
    }

    /// Before anything is deleted: a page adds to the memory of its run, the end of a run acts on it.
    mutating func settleRun() throws {
        if isPage { rememberPage() } else if run != nil { try settleUnlisted() }
    }

    private mutating func rememberPage() {
        forgetUnlisted()
        for tree in model.trees {
            for node in plan.rows[tree.id].nodes.indices {
                guard let key = trees[tree.id].rowKey(node, plan.rows[tree.id], pool) else { continue }
                run?.seen.insert(StoredRow(tree: tree.id, key: key))
            }
        }
        run?.orphans.formUnion(orphans)
        orphans = []
        run?.parentRows = parentRows
        if let parent = plan.parent {
            let listed = listedRows(parent, model.entities[plan.entity].tree)
            run?.listed = listed
        }
        run?.rootRecords += plan.rootRecords
        run?.readableRootRecords += plan.readableRootRecords
    }

    /// Rows whose link this page speaks for: whatever a list left out before, this came later.
    private mutating func forgetUnlisted() {
        guard let unlisted = run?.unlisted, !unlisted.isEmpty else { return }
        var spoken: [Int: Set<Int32>] = [:]
        for link in Set(unlisted.map(\.link)) {
            let batch = plan.links[link]
            spoken[link] = Set(batch.assertions.filter { standing($0) == .full }.map(\.first)).union(
                batch.replacements.filter { $0.end == .first && isActive($0.mention) }.map(\.node))
        }
        for left in unlisted {
            guard let node = node(of: left.row.key, left.row.tree), spoken[left.link]?.contains(node) == true else {
                continue
            }
            run?.unlisted.remove(left)
        }
    }

    /// Rows that lists left out and that no page mentioned go; those that one mentioned lose their link.
    private mutating func settleUnlisted() throws {
        for left in run?.unlisted ?? [] {
            guard try storedTargets(of: left.row, link: left.link, from: .first).contains(left.owner) else { continue }
            if isMentioned(left.row) {
                try noteRemovedTarget(of: left.row, left.link)
                try clearForeignKey(of: left.row, left.link)
                report.linksRemoved += 1
            } else {
                unlisted.insert(left.row)
                leftOut[left.row, default: []].insert(left.link)
            }
        }
        orphans.formUnion(run?.orphans ?? [])
    }
}
