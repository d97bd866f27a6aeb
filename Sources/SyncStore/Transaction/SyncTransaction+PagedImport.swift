import SyncCore

// A page of a paged import deletes nothing. The import records the rows that pages omit. At its end, it deletes the
// rows that no page contains.
extension SyncTransaction {
    /// Whether the payload is a page of a paged import. A page does not delete the rows that it omits. The end of the
    /// import does, and so does a sync outside a paged import.
    private var isPage: Bool { pagedImport?.isEnding == false }

    /// Whether the sync deletes rows in scope that the payload omits. If the payload is a single record instead of a
    /// list, this requires a predicate or a parent, which sets the scope. The same applies to the end of a paged import
    /// with such a page.
    var deletesMissing: Bool { graph.roots.contains(where: deletesMissing) }

    /// Returns whether the sync deletes rows that one root list omits.
    func deletesMissing(_ root: PayloadGraph.RootList) -> Bool {
        guard graph.operations.contains(.delete), graph.isComplete, !isPage, pagedImport?.changes.isEmpty != true else {
            return false
        }
        let isAlone = root.isSingleRecord || pagedImport?.entitiesWithSingleObject.contains(root.entity) == true
        return !isAlone || predicate != nil || graph.parent != nil
    }

    /// Records a row that the list of its owner omits. A page unlinks the row if an earlier page contains it, or linked
    /// it by a reference from before the import. It postpones the decision about other rows to the end of the import. A
    /// sync that is not a page deletes the row.
    mutating func addDeletionCandidate(_ row: StoredRow, _ link: CompiledAssociation, owner: NodeID) throws {
        guard isPage else {
            deletionCandidates[row].unlisted.insert(link.id)
            return
        }
        if try isInEarlierPage(row) || isResolved(row, link, owner) {
            // A link that is part of the row's composite key stays, so the row keeps its owner.
            if link.isKeyPart { return }
            deletionCandidates[row].unlinked.insert(link.id)
            if tables[row.table].hasSurrogateKey { deletionCandidates.addOrphan(row) }
        } else if let key = tables[link.second.table].rowKey(owner) {
            pagedImport?.removedListEntries.insert(.init(row: row, link: link.id, owner: key))
        }
    }

    /// Returns whether an earlier page linked a row to its owner by a pending reference from before the import. In one
    /// payload, the list of the owner would replace that reference.
    private func isResolved(_ row: StoredRow, _ link: CompiledAssociation, _ owner: NodeID) -> Bool {
        let resolved = pagedImport?.resolvedReferences[.init(row: row, link: link.id, end: .first)]
        return resolved.map { $0.target == tables[link.second.table].rowKey(owner) } ?? false
    }

    /// Adds a page to the state of its paged import. At the end of the import, unlinks the rows that pages omitted, or
    /// selects them for deletion. Call it before deletions.
    mutating func finishPagedImport() throws {
        if isPage { try recordPage() } else if pagedImport != nil { try processRemovedListEntries() }
    }

    private mutating func recordPage() throws {
        removeRelistedEntries()
        for table in tables {
            for node in table.nodes { try recordFlags(node, table) }
        }
        pagedImport?.orphans.formUnion(deletionCandidates.removeAllOrphans())
        pagedImport?.parentRows = parentRows
        if let parent = graph.parent { for row in listedRows(parent) { try add(.listed, to: row) } }
        pagedImport?.rootRecords += graph.rootRecords
        for root in graph.roots where root.isSingleRecord { recordSingleObject(root) }
        for root in graph.roots where root.unreadable > 0 {
            let known = pagedImport?.unreadable[root.entity] ?? (0, root.firstUnreadable)
            pagedImport?.unreadable[root.entity] = (known.count + root.unreadable, known.first)
        }
    }

    /// Records that a page has a single object or null instead of an array. If the import therefore keeps omitted rows,
    /// the first such page of an entity reports it.
    private mutating func recordSingleObject(_ root: PayloadGraph.RootList) {
        guard pagedImport?.entitiesWithSingleObject.insert(root.entity).inserted == true,
            pagedImport?.isOnePayload == false, graph.operations.contains(.delete), predicate == nil,
            graph.parent == nil
        else { return }
        report.add(
            .deletionsSkipped, root.entity, key: nil, path: "",
            "a page is a single object or null instead of an array; the paged import does not delete omitted rows",
            suggestion: "put the records of each page in an array, or name a predicate or a parent")
    }

    /// Sets the flags of a node's row, and counts the row as repeated if an earlier page counted it.
    private mutating func recordFlags(_ node: NodeID, _ table: SyncTable) throws {
        guard let row = table.row(node) else { return }
        let isNew = table.isPresent(node, as: .new)
        let isStored = table.isPresent(node, as: .stored)
        let hasValues = isStored && table.values.exist(for: node)
        let isUpdated = isStored && table.matches.changed.contains(node)
        var flags: RowFlags = .mentioned
        if isNew || hasValues || isUpdated { flags.insert(.counted) }
        if isNew || isUpdated { flags.insert(.written) }
        if isNew { flags.insert(.inserted) }
        if table.batch.nodes[node.index].isRoot, isNew || hasValues { flags.insert(.root) }
        let before = try add(flags, to: row)
        if flags.contains(.root) {
            if before.contains(.root) {
                pagedImport?.changes.repeatedRoots += 1
            } else if before.contains(.inserted) {
                pagedImport?.changes.insertedRoots += 1
            }
        }
        guard before.contains(.counted), flags.contains(.counted) else { return }
        let entity = model.entities[table.entity(of: node)].name
        if isUpdated, before.contains(.written) {
            pagedImport?.changes.repeats[entity, default: .init()].updated += 1
        } else {
            pagedImport?.changes.repeats[entity, default: .init()].unchanged += 1
        }
    }

    /// Counts the rows that the page updated as a side effect as repeated if an earlier page counted them.
    mutating func countUpdatedRowsOnce() throws {
        guard !updatedRows.isEmpty else { return }
        for (identity, row) in updatedRows {
            // A written row has its flags from ``recordFlags(_:_:)``. The report drops the updates of deleted rows.
            guard let outcome = report.outcome(ofUpdated: identity), outcome != .written else { continue }
            let before = try add([.counted, .written], to: row)
            let entity = model.entities[identity.entity].name
            if before.contains(.written) {
                pagedImport?.changes.repeats[entity, default: .init()].updated += 1
                // ``recordFlags(_:_:)`` counted the row as an unchanged repeat, but it is an update of this page.
                if outcome == .unchanged { pagedImport?.changes.repeats[entity, default: .init()].unchanged -= 1 }
            } else if before.contains(.counted), outcome == .notGiven {
                pagedImport?.changes.repeats[entity, default: .init()].unchanged += 1
            }
        }
    }

    /// Removes a postponed row from the state if this page asserts the link to its owner. An assertion that becomes a
    /// pending reference does not count.
    private mutating func removeRelistedEntries() {
        guard let unlisted = pagedImport?.removedListEntries, !unlisted.isEmpty else { return }
        for id in Set(unlisted.map(\.link)) {
            let (first, second) = (tables[model[id].first.table], tables[model[id].second.table])
            for assertion in statements(of: id).stated {
                guard let row = first.row(assertion.first), let owner = second.rowKey(assertion.second) else {
                    continue
                }
                pagedImport?.removedListEntries.remove(.init(row: row, link: id, owner: owner))
            }
        }
    }

    /// Processes the postponed rows. Selects those that no page contains for deletion, and unlinks the others.
    private mutating func processRemovedListEntries() throws {
        deletionCandidates.addOrphans(pagedImport?.orphans ?? [])
        guard let unlisted = pagedImport?.removedListEntries, !unlisted.isEmpty else { return }
        for (link, entry) in Dictionary(grouping: unlisted, by: \.link) {
            try links.load(entry.lazy.map(\.row.key), link, from: .first)
        }
        let staying = try unlisted.filter { try links.target(of: $0.row.key, $0.link) == $0.owner }
        try identities.load(staying.lazy.map(\.row))
        for entry in staying {
            if try isInPayload(entry.row) {
                try unlink(entry.row, [entry.link])
            } else {
                deletionCandidates[entry.row].unlisted.insert(entry.link)
            }
        }
    }
}

// MARK: - Row flags

extension SyncTransaction {
    /// Returns the flags that earlier pages, and this page so far, set for a row.
    func rowFlags(of row: StoredRow) throws -> RowFlags { try pagedImport?.flags(of: row) ?? [] }

    /// Adds flags to those of a row.
    ///
    /// - Returns: The previous flags. Flags outside memory are left out if those in memory contain `flags`.
    @discardableResult
    mutating func add(_ flags: RowFlags, to row: StoredRow) throws -> RowFlags {
        try pagedImport?.add(flags, to: row) ?? []
    }

    /// Returns whether the payload, or an earlier page of its import, contains or references a stored row.
    func isInPayload(_ row: StoredRow) throws -> Bool {
        try tables.node(of: row) != nil || isInEarlierPage(row)
    }

    /// Returns whether an earlier page of the import contains or references a stored row.
    func isInEarlierPage(_ row: StoredRow) throws -> Bool { try rowFlags(of: row).contains(.mentioned) }

    /// Returns whether this page or an earlier one lists a stored row as a child of the parent.
    func isListed(_ row: StoredRow) throws -> Bool { try rowFlags(of: row).contains(.listed) }
}
