import GRDB
import SyncCore

// Pages of a run delete nothing: what they leave out is kept in mind, and what no page mentioned goes at the end.
extension SyncTransaction {
    /// A payload that is all there is deletes what it leaves out; a page may not, and the end of a run may.
    private var isPage: Bool { run?.isEnding == false }

    /// Whether the rows in scope that the payload leaves out are deleted. A lone object leaves nothing out, and a run that
    /// has one does not know what is missing, unless a predicate or a parent says what they speak for.
    var deletesMissing: Bool {
        guard plan.operations.contains(.delete), plan.isComplete, run?.changes.isEmpty != true else { return false }
        let isAlone = plan.isLoneObject || run?.hasLoneObject == true
        return !isAlone || predicate != nil || plan.parent != nil
    }

    /// Whether anything in the payload, or in an earlier page of its run, mentions a stored row.
    func isMentioned(_ row: StoredRow) throws -> Bool {
        try isNode(row.key, row.tree) || isMentionedBefore(row) || known?.mentions(row) ?? false
    }

    /// Whether an earlier page of the run mentions a stored row.
    func isMentionedBefore(_ row: StoredRow) throws -> Bool { try marks(of: row).contains(.mentioned) }

    /// Whether an earlier page of the run, or this one, lists a stored row as its parent's.
    func isListed(_ row: StoredRow) throws -> Bool { try marks(of: row).contains(.listed) }

    /// A row that its owner's list does not have any more: to be deleted, by a page unlinked if an earlier one
    /// mentioned it, else left where it is until the run ends.
    mutating func leaveOut(_ row: StoredRow, _ link: Int, owner: Int32) throws {
        guard isPage else {
            leaving[row].leftOut.insert(link)
            return
        }
        let tree = model.links[link].second.tree
        if try isMentionedBefore(row) {
            leaving[row].unlinked.insert(link)
            if columns[row.tree].hasHiddenKey { leaving.noteOrphan(row) }
        } else if let key = trees[tree].rowKey(Int(owner), plan.rows[tree], pool) {
            run?.unlisted.insert(.init(row: row, link: link, owner: key))
        }
    }

    /// Before anything is deleted: a page adds to the memory of its run, the end of a run acts on it.
    mutating func settleRun() throws {
        if isPage { try rememberPage() } else if run != nil { try settleUnlisted() }
    }

    private mutating func rememberPage() throws {
        forgetUnlisted()
        for tree in model.trees {
            for node in plan.rows[tree.id].nodes.indices { try remember(node, tree.id) }
        }
        run?.orphans.formUnion(leaving.takeOrphans())
        run?.parentRows = parentRows
        if let parent = plan.parent {
            for row in listedRows(parent, model.entities[plan.entity].tree) { try add(.listed, to: row) }
        }
        run?.rootRecords += plan.rootRecords
        if plan.isLoneObject { run?.hasLoneObject = true }
        try limitMarks()
    }

    /// Marks the row of a node, and notes if it was counted by an earlier page too.
    private mutating func remember(_ node: Int, _ tree: Int) throws {
        guard let key = trees[tree].rowKey(node, plan.rows[tree], pool) else { return }
        let isNew = trees[tree].presence[node] == .new
        let isStored = trees[tree].presence[node] == .stored
        let hasValues = isStored && trees[tree].values[node] >= 0
        let isUpdated = isStored && trees[tree].isDirty(node)
        var mark: RowMark = .mentioned
        if isNew || hasValues || isUpdated { mark.insert(.counted) }
        if isNew || isUpdated { mark.insert(.written) }
        if isNew { mark.insert(.inserted) }
        if plan.rows[tree].nodes[node].isRoot, isNew || hasValues { mark.insert(.root) }
        let before = try add(mark, to: StoredRow(tree: tree, key: key))
        if mark.contains(.root) {
            if before.contains(.root) {
                run?.changes.repeatedRoots += 1
            } else if before.contains(.inserted) {
                run?.changes.insertedRoots += 1
            }
        }
        guard before.contains(.counted), mark.contains(.counted) else { return }
        let entity = model.entities[trees[tree].entity(of: node)].name
        if isUpdated, before.contains(.written) {
            run?.changes.repeats[entity, default: .init()].updated += 1
        } else {
            run?.changes.repeats[entity, default: .init()].unchanged += 1
        }
    }

    /// Rows of which this page says that they are their owner's after all: whatever a list left out before, this came
    /// later. A link to a row that is not there yet is none: what a list left out stays left out.
    private mutating func forgetUnlisted() {
        guard let unlisted = run?.unlisted, !unlisted.isEmpty else { return }
        for link in Set(unlisted.map(\.link)) {
            let (first, second) = (model.links[link].first.tree, model.links[link].second.tree)
            for assertion in statements(of: link).stated {
                guard let row = trees[first].rowKey(Int(assertion.first), plan.rows[first], pool),
                    let owner = trees[second].rowKey(Int(assertion.second), plan.rows[second], pool)
                else { continue }
                run?.unlisted.remove(.init(row: StoredRow(tree: first, key: row), link: link, owner: owner))
            }
        }
    }

    /// Rows that lists left out and that no page mentioned go; those that one mentioned lose their link.
    private mutating func settleUnlisted() throws {
        for left in run?.unlisted ?? [] {
            guard try storedLinks.target(of: left.row, left.link) == left.owner else { continue }
            if try isMentioned(left.row) {
                try unlink(left.row, [left.link])
            } else {
                leaving[left.row].leftOut.insert(left.link)
            }
        }
        leaving.noteOrphans(run?.orphans ?? [])
    }
}
