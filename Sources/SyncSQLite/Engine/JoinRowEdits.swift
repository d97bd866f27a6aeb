import GRDB
import SyncCore
import SyncStore

/// The edits of one many-to-many list of a row: added and removed join rows, and a changed order. ``RowMerge`` removes
/// and reapplies them with the other edits of the row.
///
/// Captured additions and removals never conflict. The merged list includes the rows that were added locally, and
/// excludes the rows that were removed locally. If one side moved rows, its order wins. If both sides moved rows to
/// different orders, the app's resolver or the conflict policy decides.
struct JoinRowEdits {
    fileprivate typealias Change = (other: DatabaseValue, isAdded: Bool)

    fileprivate let joinTable: TrackedTable.JoinTable
    fileprivate let changes: [Change]
    /// The states of the list that were sent and not confirmed. See ``EngineLedger/attemptedValues(of:_:)``.
    fileprivate let sent: [[DatabaseValue]]
    /// The base order; nil if none is stored.
    fileprivate var base: [DatabaseValue]?
    /// When the order was edited, in milliseconds since 1970; nil if not known.
    fileprivate let editTime: Int64?
    /// The list before the edits were removed; empty if the merge does not compare lists.
    fileprivate let local: [DatabaseValue]
    /// The list at the service; empty if the merge does not compare lists.
    fileprivate var remote: [DatabaseValue] = []
    /// The list's references to rows that are not stored, before the edits were removed. Read only if rows were added
    /// or removed.
    fileprivate let pending: [(key: DatabaseValue, position: Int64)]
    /// Whether the merge compares the whole list. Otherwise only ``changes`` are reapplied.
    fileprivate let isCompared: Bool

    /// Reads the edits of a list from the engine's tables.
    init(_ joinTable: TrackedTable.JoinTable, of row: RowMerge) throws {
        self.joinTable = joinTable
        sent = try row.triedValues[joinTable.field, default: []].map {
            try row.engine.sentKeys($0, joinTable, in: row.db)
        }
        let isOrderCompared = joinTable.isOrdered || row.mayHaveUncapturedEdits
        isCompared = isOrderCompared || !sent.isEmpty
        let local = try isCompared || row.isNew ? row.linkedRows(joinTable) : []
        let edits = try row.isNew ? [] : Self.edits(of: row, joinTable)
        pending =
            try row.isNew || !edits.isEmpty
            ? PendingListReferences(row.engine, joinTable, of: row.key, row.table, row.db).all() : []
        changes = row.isNew ? (local + pending.map(\.key)).map { ($0, true) } : edits
        let known = isOrderCompared ? row.bases[joinTable.field] : nil
        base = try known.map { try LinkedRowList.keys($0.value) }
        editTime = known?.editTime
        self.local = local
    }

    /// Returns the added and removed rows, with their current keys.
    private static func edits(of row: RowMerge, _ joinTable: TrackedTable.JoinTable) throws -> [Change] {
        try row.ledger.joinEdits(of: row.key, joinTable).map { edit -> Change in
            let current = try row.engine.currentElement(edit.other, of: joinTable, row.db)
            if !current.isExactly(edit.other) {
                try row.ledger.rekeyJoinEdits(of: joinTable, .other, from: edit.other, to: current)
            }
            return (current, edit.isAdded)
        }
    }
}

extension RowMerge {
    fileprivate func linkedRows(_ joinTable: TrackedTable.JoinTable) throws -> [DatabaseValue] {
        try LinkedRowList(joinTable).others(of: key, in: db)
    }

    // MARK: Removing edits

    func revertLists() throws {
        for list in lists {
            for change in list.changes {
                try set(!change.isAdded, list.joinTable, change.other)
                if !change.isAdded { try restoreReference(list.joinTable, change.other) }
            }
        }
        for list in lists {
            if let base = list.base { try LinkedRowList(list.joinTable).order(base, of: key, in: db) }
        }
    }

    // MARK: Reapplying edits

    mutating func reapplyLists() throws {
        try discardForeignLists()
        for index in lists.indices where lists[index].isCompared {
            lists[index].remote = try linkedRows(lists[index].joinTable)
        }
        for list in lists {
            for change in list.changes { try reapply(change, list.joinTable) }
        }
        for list in lists { try reapplySent(list) }
        for var list in lists {
            try mergeMissedEdits(list)
            guard list.joinTable.isOrdered else { continue }
            // If the service has an order that was sent, that order is the base order.
            if let order = list.sent.first(where: { !ListOrderMerge.isMoved(list.remote, from: $0) }) {
                list.base = order
            }
            try mergeOrder(list)
        }
    }

    /// Discards the edits of lists that the entity of the row lacks, because one side changed the entity. Logs the
    /// added rows.
    private mutating func discardForeignLists() throws {
        guard table.table.hasEntityColumn, !lists.isEmpty else { return }
        let kind = try table.kind(of: key, engine.model.compiled, in: db)
        let foreign = lists.filter { !table.has($0.joinTable, in: kind) }
        guard !foreign.isEmpty else { return }
        lists = lists.filter { table.has($0.joinTable, in: kind) }
        for list in foreign {
            let added = list.changes.filter(\.isAdded).map(\.other)
            for other in added { try ledger.deleteJoinEdit(other, of: key, list.joinTable) }
            for change in list.changes where !change.isAdded { try reapply(change, list.joinTable) }
            try ledger.setBaseOrder(nil, of: list.joinTable, key, table)
            guard !added.isEmpty else { continue }
            conflicts += 1
            try log.add(
                table, key, field: list.joinTable.field, base: .null, local: LinkedRowList.text(added),
                remote: LinkedRowList.text([]), ConflictOutcome(winner: .remote, reason: .entityChanged))
        }
        try engine.deleteLinks(of: key, table, foreignTo: kind, in: db)
    }

    private func reapply(_ change: JoinRowEdits.Change, _ joinTable: TrackedTable.JoinTable) throws {
        let (other, isAdded) = change
        if try isLinked(joinTable, other) == isAdded {
            return try ledger.deleteJoinEdit(other, of: key, joinTable)
        }
        try set(isAdded, joinTable, other)
        if isNew { try ledger.insertJoinEdit(other, of: key, joinTable, isAdded: true) }
    }

    /// Reapplies the local differences from a list that was sent. If the service has the sent state of a join row, a
    /// different local state is a later edit.
    private func reapplySent(_ list: JoinRowEdits) throws {
        guard !list.sent.isEmpty else { return }
        let (here, there, sent) = (Set(list.local), Set(list.remote), list.sent.map(Set.init))
        for other in sent.reduce(here.union(there), { $0.union($1) }) {
            let isThere = there.contains(other)
            guard here.contains(other) != isThere, sent.contains(where: { $0.contains(other) == isThere }) else {
                continue
            }
            try set(!isThere, list.joinTable, other)
            guard try isLinked(list.joinTable, other) != isThere else { continue }
            try ledger.deleteJoinEdit(other, of: key, list.joinTable)
            try ledger.insertJoinEdit(other, of: key, list.joinTable, isAdded: !isThere)
        }
    }

    /// Merges join rows that may have been edited while changes were not captured. At the known version, each
    /// difference is such an edit. At another version, the remote list applies, and the local list is logged.
    private mutating func mergeMissedEdits(_ list: JoinRowEdits) throws {
        let (joinTable, local, remote) = (list.joinTable, list.local, list.remote)
        guard mayHaveUncapturedEdits, !isNew, syncedColumns.contains(joinTable.name) else { return }
        let recorded = Set(list.changes.map(\.other))
        let added = Set(local).subtracting(remote).subtracting(recorded)
        let removed = Set(remote).subtracting(local).subtracting(recorded)
        let isMoved = joinTable.isOrdered && list.base == nil && ListOrderMerge.isMoved(local, from: remote)
        if added.isEmpty, removed.isEmpty, isCurrent || !isMoved { return }
        guard isCurrent else {
            conflicts += 1
            return try log.add(
                table, key, field: joinTable.field, base: .null, local: LinkedRowList.text(local),
                remote: LinkedRowList.text(remote), .missedEdits)
        }
        for (others, isAdded) in [(added, true), (removed, false)] {
            for other in others {
                try set(isAdded, joinTable, other)
                guard try isLinked(joinTable, other) == isAdded else { continue }
                try ledger.insertJoinEdit(other, of: key, joinTable, isAdded: isAdded)
            }
        }
        try ledger.insertUpdate(of: key, table)
    }

    /// Merges the order of an ordered list. Stores the service's order as the base order, or deletes the base order if
    /// the merged list has the same order.
    private mutating func mergeOrder(_ list: JoinRowEdits) throws {
        let (joinTable, local, remote) = (list.joinTable, list.local, list.remote)
        var (leader, follower) = (local, remote)
        let isMissed =
            mayHaveUncapturedEdits && isCurrent && list.base == nil && syncedColumns.contains(joinTable.name)
        switch ListOrderMerge.outcome(base: isMissed ? remote : list.base, local: local, remote: remote) {
        case .local: break
        case .remote: (leader, follower) = (remote, local)
        case .conflict:
            let (resolution, own) = try resolve(
                joinTable.field, base: ids(list.base ?? [], joinTable), here: ids(local, joinTable),
                there: ids(remote, joinTable), editTime: list.editTime ?? db.now()
            ) { json in try keys(json, joinTable) }
            if resolution.winner == .remote { (leader, follower) = (remote, local) }
            if let own { leader = own }
            try add(
                resolution, field: joinTable.field, base: LinkedRowList.text(list.base ?? []),
                local: LinkedRowList.text(local), remote: LinkedRowList.text(remote))
        }
        let stored = try linkedRows(joinTable)
        try LinkedRowList(joinTable).order(
            ListOrderMerge.merged(leader: leader, follower: follower, of: stored), of: key, in: db)
        let merged = try linkedRows(joinTable)
        let isEdited = ListOrderMerge.isMoved(merged, from: remote)
        try ledger.setBaseOrder(isEdited ? remote : nil, of: joinTable, key, table, editTime: list.editTime)
        if isEdited { try ledger.insertUpdate(of: key, table) }
        // A list in the service's order needs no decision, even if rows were added to it.
        try log.closeReverted(
            joinTable.field, key, table, local: LinkedRowList.text(isEdited ? merged : remote),
            remote: LinkedRowList.text(remote))
    }

    // MARK: IDs

    private func ids(_ keys: [DatabaseValue], _ joinTable: TrackedTable.JoinTable) throws -> JSONValue {
        .array(try keys.map { try engine.id($0, of: joinTable.destination, in: db) })
    }

    /// Returns the keys of the IDs in a merged list; nil if it is not an array of valid keys. Ignores rows that are not
    /// in the stored list, and repeated rows.
    private func keys(_ json: JSONValue, _ joinTable: TrackedTable.JoinTable) throws -> [DatabaseValue]? {
        let model = engine.model.compiled
        let entity = model.entities[model[joinTable.link].side(joinTable.end.other).entity]
        guard case .array(let ids) = json, let key = TrackedKey(entity, engine.stack.layout) else { return nil }
        var rest = Set(try linkedRows(joinTable).map(\.exact))
        var list: [DatabaseValue] = []
        for id in ids {
            guard let other = try key.engineKey(of: id, in: db) else { return nil }
            if rest.remove(other.exact) != nil { list.append(other) }
        }
        return list
    }

    // MARK: Join rows

    private func references(_ joinTable: TrackedTable.JoinTable) -> PendingListReferences {
        PendingListReferences(engine, joinTable, of: key, table, db)
    }

    /// Returns whether the list contains a row, possibly as a pending reference.
    private func isLinked(_ joinTable: TrackedTable.JoinTable, _ other: DatabaseValue) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM \(joinTable.table.table) WHERE \(joinTable.table.mine) = ? AND \(joinTable.table.other) = ?",
            key, other) || references(joinTable).contains(other)
    }

    /// Adds a row to a list, or removes it. A row that is not stored is added only if it had a pending reference.
    private func set(_ isLinked: Bool, _ joinTable: TrackedTable.JoinTable, _ other: DatabaseValue) throws {
        let references = references(joinTable)
        if !isLinked { try references.delete(other) }
        if isLinked, let former = pending(other, joinTable), try !references.isStored(other) {
            return try references.insert(other, at: former)
        }
        try engine.setLinked(isLinked, key, to: other, joinTable, in: db)
    }

    /// Returns the position of the pending reference that a list had before the edits were removed.
    private func pending(_ other: DatabaseValue, _ joinTable: TrackedTable.JoinTable) -> Int64? {
        lists.first { $0.joinTable.name == joinTable.name && $0.joinTable.end == joinTable.end }?
            .pending.first { $0.key.isExactly(other) }?.position
    }

    /// Restores the pending reference that a local edit removed from a list.
    private func restoreReference(_ joinTable: TrackedTable.JoinTable, _ other: DatabaseValue) throws {
        let references = references(joinTable)
        if try references.isStored(other) || references.isDeletedLocally(other) { return }
        try references.insert(other, at: nil)
    }
}

extension SQLiteEngineStore {
    /// Deletes the join rows and the pending references of relationships that the new entity of a row lacks.
    ///
    /// - Parameter kind: The new entity.
    func deleteLinks(
        of key: DatabaseValue, _ table: TrackedTable, foreignTo kind: CompiledEntity, in db: Database
    ) throws {
        let compiled = model.compiled
        for link in compiled.links where link.storage == .joinTable {
            for end in [CompiledAssociation.End.first, .second] {
                let side = link.side(end)
                guard side.table == kind.table, !compiled.entity(kind.id, isKindOf: side.entity) else { continue }
                let names = LinkTable(link, end, stack.layout)
                try db.run("DELETE FROM \(names.table) WHERE \(names.mine) = ?", key)
            }
        }
        let own = kind.relationships.map(\.name.literal).joined(separator: ", ")
        try db.run(
            """
            DELETE FROM sync_pending WHERE owner_entity IN (\(table.family)) AND owner_key = ?
              AND relationship NOT IN (\(own))
            """, key)
    }
}

// MARK: - Pending references

/// The pending references of a many-to-many list of a row.
struct PendingListReferences {
    private let engine: SQLiteEngineStore
    private let joinTable: TrackedTable.JoinTable
    private let table: TrackedTable
    private let owner: DatabaseValue
    private let db: Database
    /// The entity of the listed rows.
    private let target: CompiledEntity
    /// The SQL condition of the pending references, with the parameters `?1` and `?2`.
    private let isInList: String

    /// `owner` is the key of the row that has the list.
    init(
        _ engine: SQLiteEngineStore, _ joinTable: TrackedTable.JoinTable, of owner: DatabaseValue,
        _ table: TrackedTable, _ db: Database
    ) {
        (self.engine, self.joinTable, self.table, self.owner, self.db) = (engine, joinTable, table, owner, db)
        let model = engine.model.compiled
        target = model.entities[model[joinTable.link].side(joinTable.end.other).entity]
        isInList = "owner_entity IN (\(table.family)) AND owner_key = ?1 AND relationship = ?2"
    }

    /// Returns the keys of the rows that are not stored, with their positions, in list order.
    func all() throws -> [(key: DatabaseValue, position: Int64)] {
        try db.rows(
            "SELECT target_key, position FROM sync_pending WHERE \(isInList) ORDER BY position", owner,
            joinTable.relationship
        ).map { (try engine.currentElement($0[0], of: joinTable, db), try $0.decode(atIndex: 1)) }
    }

    func contains(_ key: DatabaseValue) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM sync_pending WHERE \(isInList) AND target_key = ?3", owner, joinTable.relationship,
            targetKey(key))
    }

    /// Inserts a reference to a row that is not stored. `position`: its position; nil for the end of the list.
    func insert(_ key: DatabaseValue, at position: Int64?) throws {
        let end = "SELECT ifnull(max(position), -1) + 1 FROM sync_pending WHERE \(isInList)"
        try db.run(
            """
            INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
            VALUES (?3, ?1, ?2, coalesce(?4, (\(end))), ?5, ?6) ON CONFLICT DO NOTHING
            """, owner, joinTable.relationship, table.kind(of: owner, engine.model.compiled, in: db).name, position,
            target.name, targetKey(key))
    }

    func delete(_ key: DatabaseValue) throws {
        try db.run(
            "DELETE FROM sync_pending WHERE \(isInList) AND target_key = ?3", owner, joinTable.relationship,
            targetKey(key))
    }

    /// Returns whether the row is stored.
    func isStored(_ key: DatabaseValue) throws -> Bool {
        try engine.stack.layout[joinTable.destination].hasRow(key, in: db)
    }

    /// Returns whether the row was deleted locally, and the deletion is pending.
    func isDeletedLocally(_ key: DatabaseValue) throws -> Bool {
        try engine.tables.contains { table in
            guard table.entity.table == joinTable.destination else { return false }
            return try EngineLedger(db).change(of: key, table)?.kind == .delete
        }
    }

    /// Returns the key of a row as `sync_pending` has it.
    private func targetKey(_ key: DatabaseValue) throws -> DatabaseValue {
        try engine.pendingKey(key, of: target, in: db) ?? key
    }
}

extension SQLiteEngineStore {
    /// Returns a list with its pending references inserted at their positions, as it is sent. At the service, the list
    /// contains these rows. References to rows that were deleted locally are left out.
    func list(
        _ joinTable: TrackedTable.JoinTable, of key: DatabaseValue, _ table: TrackedTable, in db: Database
    ) throws -> [DatabaseValue] {
        let references = PendingListReferences(self, joinTable, of: key, table, db)
        let stored = try LinkedRowList(joinTable).others(of: key, in: db)
        return try references.all().reduce(into: stored) { list, reference in
            if try references.isDeletedLocally(reference.key) { return }
            list.insert(reference.key, at: min(max(Int(reference.position), 0), list.count))
        }
    }
}
