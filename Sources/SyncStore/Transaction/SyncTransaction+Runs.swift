import SyncCore

// Pages of a run delete nothing: what they leave out is kept in mind, and what no page mentioned goes at the end.
extension SyncTransaction {
    /// A payload that is all there is deletes what it leaves out; a page may not, and the end of a run may.
    private var isPage: Bool { run?.isEnding == false }

    /// Whether the rows in scope that the payload leaves out are deleted. A lone object leaves nothing out, and a run that
    /// has one does not know what is missing, unless a predicate or a parent says what they speak for.
    var deletesMissing: Bool { plan.roots.contains(where: deletesMissing) }

    /// The same of one list of the payload.
    func deletesMissing(_ root: PayloadGraph.RootList) -> Bool {
        guard plan.operations.contains(.delete), plan.isComplete, !isPage, run?.changes.isEmpty != true else {
            return false
        }
        let isAlone = root.isLoneObject || run?.loneObjects.contains(root.entity) == true
        return !isAlone || predicate != nil || plan.parent != nil
    }

    /// A row that its owner's list does not have any more: to be deleted, by a page unlinked if an earlier one
    /// mentioned it, else left where it is until the run ends.
    mutating func addDeletionCandidate(_ row: StoredRow, _ link: CompiledAssociation, owner: NodeID) throws {
        guard isPage else {
            leaving[row].leftOut.insert(link.id)
            return
        }
        if try isMentionedBefore(row) {
            // It keeps the link that it is told apart by, and so its owner.
            if link.isKeyPart { return }
            leaving[row].unlinked.insert(link.id)
            if tables[row.table].hasHiddenKey { leaving.addOrphan(row) }
        } else if let key = tables[link.second.table].rowKey(owner) {
            run?.unlisted.insert(.init(row: row, link: link.id, owner: key))
        }
    }

    /// Before anything is deleted: a page adds to the memory of its run, the end of a run acts on it.
    mutating func finishPagedImport() throws {
        if isPage { try rememberPage() } else if run != nil { try resolveUnlisted() }
    }

    private mutating func rememberPage() throws {
        discardUnlisted()
        for table in tables {
            try loadMarks(of: table.nodes.compactMap(table.row))
            for node in table.nodes { try remember(node, table) }
        }
        run?.orphans.formUnion(leaving.removeAllOrphans())
        run?.parentRows = parentRows
        if let parent = plan.parent { for row in listedRows(parent) { try add(.listed, to: row) } }
        run?.rootRecords += plan.rootRecords
        for root in plan.roots where root.isLoneObject { run?.loneObjects.insert(root.entity) }
        for root in plan.roots where root.unread > 0 {
            let known = run?.unread[root.entity] ?? (0, root.firstUnreadable)
            run?.unread[root.entity] = (known.count + root.unread, known.first)
        }
        try limitMarks()
    }

    /// Marks the row of a node, and notes if it was counted by an earlier page too.
    private mutating func remember(_ node: NodeID, _ table: SyncTable) throws {
        guard let row = table.row(node) else { return }
        let isNew = table.isPresent(node, as: .new)
        let isStored = table.isPresent(node, as: .stored)
        let hasValues = isStored && table.values.count(for: node)
        let isUpdated = isStored && table.met.changed.contains(node)
        var mark: RowFlags = .mentioned
        if isNew || hasValues || isUpdated { mark.insert(.counted) }
        if isNew || isUpdated { mark.insert(.written) }
        if isNew { mark.insert(.inserted) }
        if table.batch.nodes[node.index].isRoot, isNew || hasValues { mark.insert(.root) }
        let before = try add(mark, to: row)
        if mark.contains(.root) {
            if before.contains(.root) {
                run?.changes.repeatedRoots += 1
            } else if before.contains(.inserted) {
                run?.changes.insertedRoots += 1
            }
        }
        guard before.contains(.counted), mark.contains(.counted) else { return }
        let entity = model.entities[table.entity(of: node)].name
        if isUpdated, before.contains(.written) {
            run?.changes.repeats[entity, default: .init()].updated += 1
        } else {
            run?.changes.repeats[entity, default: .init()].unchanged += 1
        }
    }

    /// Rows of which this page says that they are their owner's after all: whatever a list left out before, this came
    /// later. A link to a row that is not there yet is none: what a list left out stays left out.
    private mutating func discardUnlisted() {
        guard let unlisted = run?.unlisted, !unlisted.isEmpty else { return }
        for id in Set(unlisted.map(\.link)) {
            let (first, second) = (tables[model[id].first.table], tables[model[id].second.table])
            for assertion in statements(of: id).stated {
                guard let row = first.row(assertion.first), let owner = second.rowKey(assertion.second) else {
                    continue
                }
                run?.unlisted.remove(.init(row: row, link: id, owner: owner))
            }
        }
    }

    /// Rows that lists left out and that no page mentioned go; those that one mentioned lose their link.
    private mutating func resolveUnlisted() throws {
        leaving.addOrphans(run?.orphans ?? [])
        guard let unlisted = run?.unlisted, !unlisted.isEmpty else { return }
        for (link, left) in Dictionary(grouping: unlisted, by: \.link) {
            try links.load(left.lazy.map(\.row.key), link, from: .first)
        }
        try loadMarks(of: unlisted.lazy.map(\.row))
        let staying = try unlisted.filter { try links.target(of: $0.row.key, $0.link) == $0.owner }
        try identities.load(staying.lazy.map(\.row))
        for left in staying {
            if try isMentioned(left.row) {
                try unlink(left.row, [left.link])
            } else {
                leaving[left.row].leftOut.insert(left.link)
            }
        }
    }
}

// MARK: - Marks

// What a run remembers of rows: in memory, and in a table once that would take too much.
extension SyncTransaction {
    /// Reads the marks of rows that are about to be asked for. Which those are is only worked out where any were moved out of
    /// memory.
    func loadMarks(of rows: @autoclosure () throws -> some Sequence<StoredRow>) throws {
        if let table = run?.table { try spilledMarks.load(rows(), from: table) }
    }

    /// What earlier pages of the run, and what was applied of this one, said of a row.
    func marks(of row: StoredRow) throws -> RowFlags {
        guard let known = run?.rows[row] else { return [] }
        guard let table = run?.table else { return known }
        return known.union(try spilledMarks.mark(of: row, from: table))
    }

    /// Adds a mark to those of a row.
    ///
    /// - Returns: Those it had.
    @discardableResult
    mutating func add(_ mark: RowFlags, to row: StoredRow) throws -> RowFlags {
        guard let known = run?.rows.insert(mark, for: row) else { return [] }
        guard let table = run?.table, !known.isSuperset(of: mark) else { return known }
        return known.union(try spilledMarks.mark(of: row, from: table))
    }

    /// Moves the marks to the table if they have become too many.
    mutating func limitMarks() throws {
        guard let size = run?.rows.size, size > options.pieces.markLimit, var rows = run?.rows else { return }
        run?.rows = RowFlagTable()
        let table = try store.move(&rows, to: run?.table)
        run?.table = table
        spilledMarks.removeAll()
    }

    /// The run is over.
    mutating func dropMarks() throws {
        guard run?.isEnding == true, let table = run?.table else { return }
        try store.dropMarks(in: table)
        run?.table = nil
    }

    // MARK: What they mean

    /// Whether anything in the payload, or in an earlier page of its run, mentions a stored row.
    func isMentioned(_ row: StoredRow) throws -> Bool {
        try tables.node(of: row) != nil || isMentionedBefore(row)
    }

    /// Whether an earlier page of the run mentions a stored row.
    func isMentionedBefore(_ row: StoredRow) throws -> Bool { try marks(of: row).contains(.mentioned) }

    /// Whether an earlier page of the run, or this one, lists a stored row as its parent's.
    func isListed(_ row: StoredRow) throws -> Bool { try marks(of: row).contains(.listed) }
}

// MARK: - SpilledRowFlags

/// The marks of a run's rows that were moved out of memory, read in sets.
final class SpilledRowFlags {
    private let store: any StoreSession
    private var known: [StoredRow: RowFlags] = [:]

    init(_ store: any StoreSession) { self.store = store }

    func load(_ rows: some Sequence<StoredRow>, from table: String) throws {
        var seen: Set<StoredRow> = []
        let unknown = rows.filter { known[$0] == nil && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        for (row, mark) in zip(unknown, try store.marks(of: unknown, in: table)) { known[row] = mark }
    }

    /// Forgets what was read: because it may be different now, or because there would be too much of it.
    func removeAll() { known = [:] }

    func mark(of row: StoredRow, from table: String) throws -> RowFlags {
        try load(CollectionOfOne(row), from: table)
        return known[row] ?? []
    }
}
