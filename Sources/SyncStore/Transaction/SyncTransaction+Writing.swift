import SyncCore

// Inserts and updates of what the plan speaks of. Foreign keys are deferred, so any order of tables is right.
extension SyncTransaction {
    mutating func writeRows(andPairs pairs: [JoinTableChanges]) throws {
        try beginWriting(pairs)
        for table in tables where !table.isEmpty {
            try insertRows(table)
            try updateRows(table)
        }
        // What was read until here was of what was stored before.
        identities.removeAll()
        links.removeAll()
        try unlinkUnmatchedRows()
        try writeLinks()
        for changes in pairs { try writeJoinRows(changes) }
        links.removeAll()
    }

    /// What is counted from here on is written.
    private func beginWriting(_ pairs: [JoinTableChanges]) throws {
        let newLinks = pairs.reduce(0) { $0 + $1.added.count }
        let newRows = tables.reduce(0) { $0 + $1.met.presence.count { $0 == .new } }
        try store.makeRoom(forInserting: newRows + newLinks)
        guard steps.areTold else { return }
        let changedRows = tables.reduce(0) { sum, table in
            sum + table.nodes(.stored).count { table.met.changed.contains($0) }
        }
        steps.beginWriting(expecting: newLinks + newRows + changedRows)
    }

    private mutating func insertRows(_ table: SyncTable) throws {
        let new = table.newRows()
        guard !new.isEmpty else { return }
        try store.insert(new, table)
        report.inserted(new, table)
        guard let history else { return }
        for node in new { if let row = table.row(node) { history.record(row, as: table.identity(of: node)) } }
    }

    private mutating func updateRows(_ table: SyncTable) throws {
        let (presence, changed, values) = (table.met.presence, table.met.changed, table.values)
        var dirty: [NodeID] = []
        var unchanged: [NodeID] = []
        for index in presence.indices where presence[index] == .stored {
            let node = NodeID(index)
            if changed.contains(node) {
                dirty.append(node)
            } else if values.count(for: node) {
                unchanged.append(node)
            }
        }
        report.unchanged(unchanged, table)
        guard !dirty.isEmpty else { return }
        if let history {
            try history.keep(dirty.compactMap(table.row))
            for node in dirty { if let row = table.row(node) { history.record(row, as: table.identity(of: node)) } }
        }
        try store.update(dirty, table)
        // Mostly the same columns differ in many rows.
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

    /// Rows the payload does not mention whose owner says that they are not its any more. Those to be deleted lose what
    /// links they have when they are.
    private mutating func unlinkUnmatchedRows() throws {
        let rows = leaving.rows { !$0.unlinked.isEmpty && $0.leftOut.isEmpty }
        guard !rows.isEmpty else { return }
        try identities.load(rows)
        try loadTargets(of: rows) { $0.unlinked }
        for row in rows { try unlink(row, leaving[row].unlinked) }
    }

    /// Reads where the foreign keys of leaving rows lead.
    func loadTargets(of rows: Set<StoredRow>, _ wanted: (DeletionCandidates.Reasons) -> Set<AssociationID>) throws {
        var keys: [AssociationID: [RowKey]] = [:]
        for row in rows { for link in wanted(leaving[row]) { keys[link, default: []].append(row.key) } }
        for (link, keys) in keys { try links.load(keys, link, from: .first) }
    }

    /// Takes links from a row, but for those that it is told apart by.
    mutating func unlink(_ row: StoredRow, _ ids: Set<AssociationID>) throws {
        for id in ids where !model[id].isKeyPart {
            try recordRemovedTarget(model[id], of: row)
            try clearForeignKey(of: row, model[id])
        }
    }

    /// Sets a foreign key, and its place, to NULL, and reports the row as updated.
    mutating func clearForeignKey(of row: StoredRow, _ link: CompiledAssociation) throws {
        try links.clearTarget(of: row.key, link.id)
        guard let found = try identities[row] else { return }
        recordUpdate(found, row, [link.first.relationship?.name].compactMap { $0 })
    }

    /// Reports a row that was written outside the plan's own updates.
    mutating func recordUpdate(_ found: ResultBuilder.Identity, _ row: StoredRow, _ changed: [String]) {
        let table = tables[row.table]
        report.updated(found, changed, inPlan: table.node(of: row.key).map(table.fate) ?? .unmentioned)
    }

    /// Writes the links that were changed one by one.
    func writeLinks() throws { try links.write { try history?.keep($0) } }
}
