import SyncCore

// Finds the stored rows in scope that the payload omits.
extension SyncTransaction {
    /// Returns the stored rows in scope that the sync deletes, because the payload does not contain them.
    mutating func scopeRows(isFirstRound: Bool) throws -> Set<StoredRow> {
        guard deletesMissing else { return [] }
        if let parent = graph.parent { return isFirstRound ? try parentScopeRows(parent) : [] }
        var rows: Set<StoredRow> = []
        for root in graph.roots where deletesMissing(root) && (isFirstRound || !hasUnreadableKeys(root)) {
            let found = try scopeRows(of: root, isFirstRound: isFirstRound)
            if hasUnreadableKeys(root) {
                skippedDeletions[root.entity, default: 0] += found.count
            } else {
                rows.formUnion(found)
            }
        }
        return rows
    }

    private func scopeRows(of root: PayloadGraph.RootList, isFirstRound: Bool) throws -> Set<StoredRow> {
        let entity = model.entities[root.entity]
        if isWholeEntityScope(root) {
            guard isFirstRound else { return [] }
            return try pagedImport == nil ? unmatchedRows(of: entity) : rowsOutsidePayload(of: entity, where: nil)
        }
        if try !isFirstRound && !scopeFollowsLinks() { return [] }
        return try rowsOutsidePayload(of: entity, where: scopeCondition(of: entity))
    }

    /// Returns whether a row can come into scope by losing links to deleted rows.
    private func scopeFollowsLinks() throws -> Bool {
        try predicate?.resolved(on: rootEntity, in: model).followsLinks ?? true
    }

    private func scopeCondition(of entity: CompiledEntity) -> RowPredicate? {
        if let predicate { return predicate }
        return entity.rootScope.map { RowPredicate(isNil: $0.name) }
    }

    /// Clears links that replaced lists have removed but that are still stored, so that the predicate does not follow
    /// them.
    mutating func clearLinksOfUnlistedRows() throws {
        guard predicate != nil, try scopeFollowsLinks() else { return }
        let unlisted = deletionCandidates.unlisted
        try loadTargets(of: unlisted) { $0.unlisted.union($0.unlinked) }
        for row in unlisted {
            for link in deletionCandidates[row].unlisted.union(deletionCandidates[row].unlinked)
            where !model[link].isKeyPart {
                try recordRemovedTarget(model[link], of: row)
                try links.clearTarget(of: row.key, link)
            }
        }
    }

    /// Returns the rows of the whole entity that the payload omits. Matching has collected them.
    private func unmatchedRows(of entity: CompiledEntity) throws -> Set<StoredRow> {
        let table = tables[entity.table]
        let rows = table.matches.unmatchedRows.rows.lazy
            .filter { !$0.isMatched && model.entity($0.entity, isKindOf: entity.id) }
            .map { StoredRow(table: table.id, key: $0.key) }
        return Set(try missing(rows, of: table))
    }

    /// The number of rows to read at once, which limits memory.
    private static let rowsAtOnce = 4096

    /// Returns the rows that satisfy a condition and that neither the payload nor an earlier page of its import contains.
    ///
    /// - Parameter condition: The condition; nil for all rows of the entity.
    private func rowsOutsidePayload(
        of entity: CompiledEntity, where condition: RowPredicate?
    ) throws -> Set<StoredRow> {
        // The condition may follow links, so write changed links first.
        if condition != nil { try writeLinks() }
        let table = tables[entity.table]
        var found: Set<StoredRow> = []
        var keys: [RowKey] = []
        repeat {
            keys = try store.rows(of: entity, where: condition, after: keys.last, limit: Self.rowsAtOnce)
            // The rows of a whole entity count as progress, as if matching had read them.
            try condition == nil ? progress.advance(by: keys.count) : progress.check()
            found.formUnion(try missing(keys.lazy.map { StoredRow(table: table.id, key: $0) }, of: table))
            // A table may have millions of rows, so the cache is cleared after each set.
        } while keys.count == Self.rowsAtOnce
        return found
    }

    /// Returns the stored rows that the payload does not contain and that have no pending changes.
    private func missing(_ rows: some Sequence<StoredRow>, of table: SyncTable) throws -> [StoredRow] {
        let rows = Array(rows)
        let outsidePayload = try rows.filter { try !isInPayload($0) }
        if table.hasSurrogateKey { try identities.load(outsidePayload) }
        return try outsidePayload.filter { try !identities.hasPendingChanges($0) }
    }
}

// MARK: - Scope of a parent

// The scope of a payload with a parent: the rows that the parent had before the sync.
extension SyncTransaction {
    /// Returns the children of the parent to delete: those that the payload does not contain and that can have no other
    /// owner. Unlinks the other children that the payload does not list.
    mutating func parentScopeRows(_ parent: PayloadGraph.Parent) throws -> Set<StoredRow> {
        guard let owner = tables[parent.table].row(parent.node) else { return [] }
        let unlisted = try unlistedRows(by: parent)
        if let root = graph.roots.first, hasUnreadableKeys(root) {
            skippedDeletions[root.entity, default: 0] += unlisted.count
            return []
        }
        let link = model[parent.link]
        // A symmetric association stores each link in both directions.
        if link.isSymmetric { try links.load([owner.key], parent.link, from: .second) }
        var rowsToDelete: Set<StoredRow> = []
        for row in unlisted {
            if try !isInPayload(row), link.storage == .foreignKey {
                guard try !hasMoved(row, from: owner, parent) else { continue }
                rowsToDelete.insert(row)
                deletionCandidates[row].unlisted.insert(parent.link)
            } else {
                try unlink(row, from: owner, parent)
            }
        }
        return rowsToDelete
    }

    /// Returns the children that the parent had before the sync and that are in scope, but that the payload does not
    /// list.
    private func unlistedRows(by parent: PayloadGraph.Parent) throws -> [StoredRow] {
        let table = rootEntity.table
        let listed = listedRows(parent)
        var rows = parentRows.map { StoredRow(table: table, key: $0) }.filter { !listed.contains($0) }
        rows = try rows.filter { try !isListed($0) }
        if let predicate {
            try writeLinks()
            let inScope = try store.rows(among: rows.map(\.key), of: rootEntity, where: predicate)
            rows = rows.filter { inScope.contains($0.key) }
        }
        try identities.load(rows)
        rows = try rows.filter { row in
            guard try !identities.hasPendingChanges(row) else { return false }
            guard tables[table].hierarchy.hasSubEntities else { return true }
            return try identities[row].map { model.entity($0.entity, isKindOf: graph.entity) } ?? false
        }
        try links.load(rows.map(\.key), parent.link, from: parent.end.other)
        return rows
    }

    /// Returns whether the row is now linked to another owner, for example by a pending reference.
    private func hasMoved(_ row: StoredRow, from owner: StoredRow, _ parent: PayloadGraph.Parent) throws -> Bool {
        let owners = try links.targets(of: row.key, parent.link, from: parent.end.other)
        return !owners.isEmpty && !owners.contains(owner.key)
    }

    /// Returns the rows that the payload lists as children of the parent. A root record lists its row even if the
    /// operations do not allow writing the row.
    func listedRows(_ parent: PayloadGraph.Parent) -> Set<StoredRow> {
        let table = tables[rootEntity.table]
        var listed: Set<StoredRow> = []
        for assertion in graph[parent.link].assertions
        where assertion.sequence == 0 || effectiveRecords.effect(of: assertion) != .none {
            let (owner, child) = assertion.ends(from: parent.end)
            if owner == parent.node, let row = table.row(child) { listed.insert(row) }
        }
        return listed
    }

    private mutating func unlink(_ row: StoredRow, from owner: StoredRow, _ parent: PayloadGraph.Parent) throws {
        let link = model[parent.link]
        guard link.storage == .joinTable else {
            let (child, target) = parent.end == .first ? (owner, row) : (row, owner)
            guard try links.target(of: child.key, parent.link) == target.key else { return }
            return try unlink(child, [parent.link])
        }
        for end in link.isSymmetric ? [parent.end, parent.end.other] : [parent.end] {
            let key = TrackedLinks.key(owner.key, row.key, end)
            guard try links.remove(key, parent.link) else { continue }
            try recordRemovedLink(link, of: owner, at: end, to: row.key)
        }
    }
}

// MARK: - Deletion limit

extension SyncTransaction {
    /// Throws `deletionLimitExceeded` if the sync deletes more rows of an entity than the deletion limit allows.
    func checkDeletionLimit() throws {
        guard let limit = options.deletionLimit else { return }
        try checkOutsideDeletions(limit)
        for (id, changes) in report.entities.enumerated() { try check(limit, changes.deletedCount, of: id) }
    }

    /// Throws `deletionLimitExceeded` before rows are deleted, because a deletion that is rolled back takes as long as
    /// one that is committed. Rows whose entity is not known without reading them are only checked afterwards.
    func checkDeletionLimit(deleting rows: [StoredRow]) throws {
        guard let limit = options.deletionLimit, rows.count > limit.alwaysAllowed else { return }
        var counts: [TableID: Int] = [:]
        for row in rows { counts[row.table, default: 0] += 1 }
        for (table, count) in counts.sorted(by: { $0.key.index < $1.key.index })
        where model[table].entities.count == 1 {
            let id = model[table].root
            try check(limit, report.entities[id].deletedCount + count, of: id)
        }
    }

    /// - Parameter deleted: The number of rows of the entity that the sync has deleted or will delete.
    private func check(_ limit: DeletionLimit, _ deleted: Int, of entity: Int) throws {
        guard deleted > limit.alwaysAllowed else { return }
        let (changes, name) = (report.entities[entity], model.entities[entity].name)
        let inserted = changes.insertedCount + (pagedImport?.changes.insertedCount(name) ?? 0)
        let gone = changes.deletedCount - inserted
        // In a large table, only as many rows are counted as are needed to allow the deletions.
        if let enough = limit.rows(allowing: deleted) {
            let count = try store.count(of: model.entities[entity], upTo: enough.missing(from: gone))
            if deleted <= limit.allowed(of: gone + count) { return }
        }
        let before = try gone + store.count(of: model.entities[entity], upTo: nil)
        try check(limit, "the sync would delete", deleted, of: before, "\(name) rows", name)
    }

    /// Checks the rows of tables outside the model that foreign keys deleted.
    private func checkOutsideDeletions(_ limit: DeletionLimit) throws {
        let deletions = Dictionary(grouping: outsideReferences.filter { $0.effect == .deleted }, by: \.table)
        for (table, references) in deletions.sorted(by: { $0.key < $1.key }) {
            let deleted = references.reduce(0) { $0 + $1.count }
            guard deleted > limit.alwaysAllowed else { continue }
            let before = try store.rowCount(ofTable: table) + deleted
            try check(
                limit, "foreign keys would delete", deleted, of: before, "rows of the table \(table)",
                name(of: references[0].target))
        }
    }

    private func check(
        _ limit: DeletionLimit, _ what: String, _ deleted: Int, of before: Int, _ rows: String, _ entity: String
    ) throws {
        let allowed = limit.allowed(of: before)
        guard deleted > allowed else { return }
        throw SyncError(
            .deletionLimitExceeded,
            "\(what) \(deleted) of \(before) \(rows), more than the \(allowed) allowed; nothing was "
                + (options.payloadKind.run == nil ? "written" : "deleted"), entity: entity)
    }
}

extension DeletionLimit {
    /// Returns how many of a number of rows may be deleted.
    package func allowed(of before: Int) -> Int {
        switch self {
        case .rows(let rows): rows
        case .fraction(let part, let above):
            before > above ? Self.wholeRows(in: part, of: before) : before
        }
    }

    /// Returns the number of whole rows in a fraction of rows, from 0 to 1. A `Double` such as 0.29 may be a little
    /// smaller than its decimal number, so a product just below a whole number counts as that number.
    private static func wholeRows(in part: Double, of before: Int) -> Int {
        let product = Double(before) * part
        let nearest = product.rounded()
        let rows = nearest - product <= 4 * product.ulp ? nearest : product.rounded(.down)
        return rows < Double(before) ? Int(rows) : before
    }

    /// The number of deletions that the limit allows for any number of rows.
    fileprivate var alwaysAllowed: Int {
        switch self {
        case .rows(let rows): rows
        case .fraction(_, let above): min(allowed(of: above.next), above)
        }
    }

    /// Returns a number of rows that is large enough to allow this number of deletions; nil if there is none or a very
    /// large one.
    fileprivate func rows(allowing deleted: Int) -> Int? {
        switch self {
        case .rows(let rows): return deleted <= rows ? 0 : nil
        case .fraction(let part, let above):
            guard part > 0, Double(deleted) / part < 1e9 else { return nil }
            return max(Int((Double(deleted) / part).rounded(.up)) + 1, above.next)
        }
    }
}

extension Int {
    /// The next number; the largest number for itself. The numbers of options may be of any size.
    fileprivate var next: Int { self == .max ? .max : self + 1 }

    /// Returns how many rows are missing from a number of rows to this number. The number of rows is negative if a sync
    /// inserts more rows than it deletes.
    fileprivate func missing(from rows: Int) -> Int {
        let (count, overflows) = subtractingReportingOverflow(rows)
        return overflows ? .max : Swift.max(count, 0)
    }
}

// MARK: - Unreadable keys

// A root record with an unreadable key may describe any row of its entity. So the sync does not delete rows of the
// entity that the payload omits.
extension SyncTransaction {
    /// Returns the number of records of a list with unreadable keys, in the payload and in earlier pages of its import,
    /// and the path of the first.
    private func unreadableKeys(_ root: PayloadGraph.RootList) -> (count: Int, first: String) {
        let before = pagedImport?.unreadable[root.entity]
        let first = before?.first ?? root.firstUnreadable
        return (root.unreadable + (before?.count ?? 0), first)
    }

    /// Returns whether the sync keeps the rows that a root list omits, because a record with an unreadable key may
    /// describe any of them.
    func hasUnreadableKeys(_ root: PayloadGraph.RootList) -> Bool {
        !options.deletesBesideUnread && unreadableKeys(root).count > 0
    }

    /// The tables whose rows may belong to records with unreadable keys.
    var tablesWithUnreadableKeys: Set<TableID> {
        if options.deletesBesideUnread { return [] }
        return Set(graph.roots.lazy.filter(hasUnreadableKeys).map { model.entities[$0.entity].table })
    }

    /// Unlinks rows that replaced lists omit, instead of deleting them, if records with unreadable keys may describe
    /// them.
    mutating func preserveRowsOfUnreadableKeys() throws {
        let tables = tablesWithUnreadableKeys
        guard !tables.isEmpty else { return }
        let rows = deletionCandidates.unlisted.filter { tables.contains($0.table) }
        guard !rows.isEmpty else { return }
        try identities.load(rows)
        try loadTargets(of: rows) { $0.unlisted.union($0.unlinked) }
        for row in rows {
            let links = deletionCandidates[row].unlisted.union(deletionCandidates[row].unlinked)
            deletionCandidates[row].unlisted = []
            try unlink(row, links)
            guard let found = try identities[row],
                let root = graph.roots.first(where: { hasUnreadableKeys($0) && model.areKin(found.entity, $0.entity) })
            else { continue }
            skippedDeletions[root.entity, default: 0] += 1
        }
    }

    /// Reports how many rows were not deleted.
    mutating func reportSkippedDeletions() {
        for root in graph.roots {
            guard let rows = skippedDeletions.removeValue(forKey: root.entity), rows > 0 else { continue }
            let (count, first) = unreadableKeys(root)
            let found = count == 1 ? "1 record has an unreadable key" : "\(count) records have unreadable keys"
            report.add(
                .deletionsSkipped, root.entity, key: nil, path: first,
                "\(found); the \(rows) omitted \(rows == 1 ? "row was" : "rows were") not deleted")
        }
    }
}

extension CompiledModel {
    /// Returns whether two entities are the same, or one is a subentity of the other.
    fileprivate func areKin(_ one: Int, _ other: Int) -> Bool {
        entity(one, isKindOf: other) || entity(other, isKindOf: one)
    }
}
