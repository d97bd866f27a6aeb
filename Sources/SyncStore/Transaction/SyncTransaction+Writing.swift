import SyncCore

// Writes the rows of the payload graph. Foreign keys are deferred, so tables may be written in any order.
extension SyncTransaction {
    mutating func writeRows(andJoinRows pairs: [JoinTableChanges]) throws {
        try beginWriting(pairs)
        for table in tables where !table.isEmpty {
            try insertRows(table)
            try updateRows(table)
        }
        // Clear the caches, which have the rows and links from before the writes.
        identities.removeAll()
        links.removeAll()
        try unlinkUnmatchedRows()
        try writeLinks()
        for changes in pairs { try writeJoinRows(changes) }
        links.removeAll()
    }

    /// Reserves capacity in the store, and starts the writing phase of the progress.
    private func beginWriting(_ pairs: [JoinTableChanges]) throws {
        let newLinks = pairs.reduce(0) { $0 + $1.added.count }
        let newRows = tables.reduce(0) { $0 + $1.matches.rowStates.count { $0 == .new } }
        try store.reserveCapacity(forInserting: newRows + newLinks)
        guard progress.hasObserver else { return }
        let changedRows = tables.reduce(0) { sum, table in
            sum + table.nodes(.stored).count { table.matches.changed.contains($0) }
        }
        progress.beginWriting(expecting: newLinks + newRows + changedRows)
    }

    private mutating func insertRows(_ table: SyncTable) throws {
        let new = table.newRows()
        guard !new.isEmpty else { return }
        try store.insert(new, table)
        report.inserted(new, table)
        guard let previousValues else { return }
        for node in new { if let row = table.row(node) { previousValues.record(row, as: table.identity(of: node)) } }
    }

    private mutating func updateRows(_ table: SyncTable) throws {
        let (presence, changed, values) = (table.matches.rowStates, table.matches.changed, table.values)
        var dirty: [NodeID] = []
        var unchanged: [NodeID] = []
        for index in presence.indices where presence[index] == .stored {
            let node = NodeID(index)
            if changed.contains(node) {
                dirty.append(node)
            } else if values.exist(for: node) {
                unchanged.append(node)
            }
        }
        report.unchanged(unchanged, table)
        guard !dirty.isEmpty else { return }
        if let previousValues {
            try previousValues.capture(dirty.compactMap(table.row))
            for node in dirty {
                if let row = table.row(node) { previousValues.record(row, as: table.identity(of: node)) }
            }
        }
        try store.update(dirty, table)
        // Consecutive rows mostly have the same changed columns.
        var last: (mask: [UInt8], names: [String]) = ([], [])
        for node in dirty {
            let mask = changed.mask(of: node)
            if mask != last.mask {
                last = (mask, changed.columns(mask).compactMap { table.name(of: table.column($0)) })
            }
            report.updated(node, table, last.names)
        }
    }

    // MARK: Single rows

    /// Removes the links of unmatched rows that replaced lists omit. Rows that will be deleted keep their links until
    /// then.
    private mutating func unlinkUnmatchedRows() throws {
        let rows = deletionCandidates.rows { !$0.unlinked.isEmpty && $0.unlisted.isEmpty }
        guard !rows.isEmpty else { return }
        try identities.load(rows)
        try loadTargets(of: rows) { $0.unlinked }
        for row in rows { try unlink(row, deletionCandidates[row].unlinked) }
    }

    /// Loads the foreign keys of deletion candidates, for the associations that a closure returns for each. Also loads
    /// the identities of the referenced rows, if the result contains links.
    func loadTargets(of rows: Set<StoredRow>, _ wanted: (DeletionCandidates.Reasons) -> Set<AssociationID>) throws {
        var keys: [AssociationID: [RowKey]] = [:]
        for row in rows { for link in wanted(deletionCandidates[row]) { keys[link, default: []].append(row.key) } }
        for (link, keys) in keys.sorted(by: { $0.key < $1.key }) {
            try links.load(keys, link, from: .first)
            guard previousValues != nil else { continue }
            let targets = try keys.compactMap { try links.target(of: $0, link) }
            try identities.load(targets.lazy.map { StoredRow(table: model[link].second.table, key: $0) })
        }
    }

    /// Removes links of a row, except those that are part of its composite key.
    mutating func unlink(_ row: StoredRow, _ ids: Set<AssociationID>) throws {
        for id in ids where !model[id].isKeyPart {
            try recordRemovedTarget(model[id], of: row)
            try clearForeignKey(of: row, model[id])
        }
    }

    /// Sets a foreign key and its position to NULL, and reports the row as updated.
    mutating func clearForeignKey(of row: StoredRow, _ link: CompiledAssociation) throws {
        try links.clearTarget(of: row.key, link.id)
        guard let found = try identities[row] else { return }
        recordUpdate(found, row, [link.first.relationship?.name].compactMap { $0 })
    }

    /// Reports the update of a row as a side effect, such as the loss of a link to a deleted row.
    mutating func recordUpdate(_ found: ResultBuilder.Identity, _ row: StoredRow, _ changed: [String]) {
        let table = tables[row.table]
        if pagedImport != nil { updatedRows[found] = row }
        report.updated(found, changed, inPlan: table.node(of: row.key).map(table.outcome) ?? .notGiven)
    }

    /// Writes the changes of ``links`` to the store.
    func writeLinks() throws { try links.write { try previousValues?.capture($0) } }
}
