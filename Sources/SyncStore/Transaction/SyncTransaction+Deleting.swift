import SyncCore

// Deletes rows after all other changes, in rounds. The first round deletes the rows that the scope, replaced lists and
// orphan rules select, and all rows that their deletion cascades to. Later rounds delete rows that the previous round
// moved into scope or left without an owner.
extension SyncTransaction {
    mutating func deleteRows() throws {
        try preserveRowsOfUnreadableKeys()
        try clearLinksOfUnlistedRows()
        var rowsToDelete = deletionCandidates.unlisted
        deletionCandidates.addOmittedFromScope(try scopeRows(isFirstRound: true).subtracting(rowsToDelete))
        reportSkippedDeletions()
        rowsToDelete.formUnion(deletionCandidates.rows(where: \.isOmittedFromScope))
        rowsToDelete.formUnion(try ownerlessRows())
        var deleted: Set<StoredRow> = []
        while !rowsToDelete.isEmpty {
            let closure = try closure(of: rowsToDelete)
            try checkDenyRules(closure)
            try checkDeletionLimit(deleting: closure)
            try detach(closure)
            try delete(closure)
            deleted.formUnion(closure)
            // A trigger may have inserted deleted rows again. Without this rule, the rounds would not end.
            let scoped = try scopeRows(isFirstRound: false).subtracting(deleted)
            deletionCandidates.addOmittedFromScope(scoped)
            rowsToDelete = scoped.union(try ownerlessRows().subtracting(deleted))
        }
    }

    // MARK: Links to follow

    /// An end of an association, as seen from the rows of its table.
    private final class LinkEnd {
        let link: CompiledAssociation
        let end: CompiledAssociation.End

        init(_ link: CompiledAssociation, _ end: CompiledAssociation.End) { (self.link, self.end) = (link, end) }

        var other: TableID { link.side(end.other).table }
        /// Whether deleting a row at this end deletes the linked rows.
        var cascades: Bool {
            let rule = link.side(end).relationship?.deleteRule
            return rule == .cascade || (link.isKeyPart && end == .second && rule != .deny)
        }
    }

    /// Returns, for each table, the association ends at this table that satisfy a condition.
    private func ends(where isWanted: (LinkEnd) -> Bool) -> [[LinkEnd]] {
        model.hierarchies.map { hierarchy in
            model.links.flatMap { link in link.ends(in: hierarchy.id).map { LinkEnd(link, $0) } }.filter(isWanted)
        }
    }

    private func load(_ rows: some Sequence<StoredRow>, _ ends: [[LinkEnd]]) throws {
        for (table, rows) in Dictionary(grouping: rows, by: \.table) {
            for end in ends[table.index] { try links.load(rows.lazy.map(\.key), end.link.id, from: end.end) }
        }
    }

    private func targets(of row: StoredRow, _ end: LinkEnd) throws -> [StoredRow] {
        try links.targets(of: row.key, end.link.id, from: end.end).map { StoredRow(table: end.other, key: $0) }
    }

    // MARK: Orphans

    /// Returns the keyless rows that lost a link and have no owner left.
    private mutating func ownerlessRows() throws -> Set<StoredRow> {
        let orphans = deletionCandidates.removeAllOrphans()
        guard !orphans.isEmpty else { return [] }
        try identities.load(orphans)
        let keyless = try orphans.filter { try identities.isKeyless($0) }
        let ends = ends { $0.link.side($0.end.other).relationship != nil }
        try loadOwners(of: keyless, ends)
        return try keyless.filter { row in
            var seen: Set<StoredRow> = []
            return try !isOwned(row, ends, &seen)
        }
    }

    /// Loads the owners of keyless rows, also through other keyless rows.
    private func loadOwners(of rows: Set<StoredRow>, _ ends: [[LinkEnd]]) throws {
        var seen = rows
        var next = rows
        while !next.isEmpty {
            try load(next, ends)
            let owners = try next.lazy.flatMap { row in
                try ends[row.table.index].flatMap { try targets(of: row, $0) }
            }
            let surrogate = Set(owners.filter { tables[$0.table].hasSurrogateKey }).subtracting(seen)
            try identities.load(surrogate)
            next = try surrogate.filter { try identities.isKeyless($0) }
            seen.formUnion(next)
        }
    }

    /// Returns whether a row with a key owns a keyless row: directly by a relationship, or through other keyless rows.
    private func isOwned(_ row: StoredRow, _ ends: [[LinkEnd]], _ seen: inout Set<StoredRow>) throws -> Bool {
        seen.insert(row)
        for end in ends[row.table.index] {
            for owner in try targets(of: row, end) {
                guard try identities.isKeyless(owner) else { return true }
                if try !seen.contains(owner) && isOwned(owner, ends, &seen) { return true }
            }
        }
        return false
    }

    // MARK: Delete rules

    /// Returns the rows and all rows that their deletion cascades to, owners before owned rows. A cascade spares rows
    /// in the payload, and rows that records with unreadable keys may describe. It does not spare rows whose primary
    /// key contains the key of a deleted row.
    private mutating func closure(of rows: Set<StoredRow>) throws -> [StoredRow] {
        let cascades = ends { $0.cascades }
        let unreadable = tablesWithUnreadableKeys
        var seen = rows
        var closure: [StoredRow] = []
        var level = rows.sorted {
            ($0.table.index, $0.key.recordKey(nil)) < ($1.table.index, $1.key.recordKey(nil))
        }
        while !level.isEmpty {
            closure += level
            try load(level, cascades)
            var owned: [StoredRow] = []
            // Rows whose composite key contains the key of a deleted row are deleted too, because they would have no
            // key.
            var parts: Set<StoredRow> = []
            for row in level {
                try progress.advance()
                for end in cascades[row.table.index] {
                    let found = try targets(of: row, end)
                    if end.link.isKeyPart { parts.formUnion(found) }
                    owned += found
                }
            }
            level = try owned.filter { row in
                let stays = try unreadable.contains(row.table) || isInPayload(row)
                return (parts.contains(row) || !stays) && seen.insert(row).inserted
            }
        }
        return closure
    }

    private func checkDenyRules(_ closure: [StoredRow]) throws {
        let denials = ends { $0.link.side($0.end).relationship?.deleteRule == .deny }
        guard denials.contains(where: { !$0.isEmpty }) else { return }
        try load(closure, denials)
        let going = Set(closure)
        for row in closure {
            for end in denials[row.table.index] {
                if end.end == .first, isUnlinkedByPayload(end.link.id, of: row) { continue }
                let staying = try targets(of: row, end).filter { !going.contains($0) }
                guard !staying.isEmpty, let found = try identities[row] else { continue }
                let entity = model.entities[found.entity].name
                let name = "\(entity).\(end.link.side(end.end).relationship?.name ?? "")"
                throw SyncError(
                    .deletionDenied,
                    "cannot delete \(entity) \(found.key): denied by \(name), which still has \(staying.count) "
                        + "row\(staying.count == 1 ? "" : "s")",
                    entity: entity)
            }
        }
    }

    /// Returns whether the payload removes a foreign key of a row that the sync deletes. Such a removal is not written
    /// before the deletion.
    private func isUnlinkedByPayload(_ link: AssociationID, of row: StoredRow) -> Bool {
        deletionCandidates[row].unlisted.contains(link) || deletionCandidates[row].unlinked.contains(link)
    }

    /// Removes the links between deleted rows and the rows that stay.
    private mutating func detach(_ closure: [StoredRow]) throws {
        let ends = ends { _ in true }
        try load(closure, ends)
        try loadIdentities(of: closure, ends)
        let going = Set(closure)
        let added = closure.isEmpty ? [] : Set(resolvedLinks)
        for row in closure {
            try progress.advance()
            for end in ends[row.table.index] { try detach(row, end, going, added) }
        }
    }

    /// Loads the identities of the deleted rows and of the rows linked to them.
    private func loadIdentities(of closure: [StoredRow], _ ends: [[LinkEnd]]) throws {
        try identities.load(closure)
        let others = try closure.lazy.flatMap { row in
            try ends[row.table.index]
                .filter { previousValues != nil || ($0.link.storage == .foreignKey && $0.end == .second) }
                .flatMap { try targets(of: row, $0) }
        }
        try identities.load(others)
    }

    /// Removes the links of a deleted row at one end of an association.
    ///
    /// - Parameters:
    ///   - going: All deleted rows.
    ///   - added: The links that this sync has added. The result omits them.
    private mutating func detach(
        _ row: StoredRow, _ end: LinkEnd, _ going: Set<StoredRow>, _ added: Set<ResolvedLink>
    ) throws {
        let (link, isJoinTable) = (end.link, end.link.storage == .joinTable)
        let targets = try targets(of: row, end)
        for other in targets where !going.contains(other) {
            if tables[other.table].hasSurrogateKey { deletionCandidates.addOrphan(other) }
            if !isJoinTable, end.end == .second { try clearForeignKey(of: other, link) }
        }
        // A foreign key between two deleted rows is visited from both ends, a join row from one end only.
        let isRecordedAtOtherEnd = end.end == .second && !isJoinTable
        for other in targets where !isRecordedAtOtherEnd || !going.contains(other) {
            try recordDetachedLink(end, of: row, to: other, added)
            // The join table of a symmetric association has the link in the other direction too.
            if isJoinTable, link.isSymmetric, !going.contains(other) {
                try recordDetachedLink(end, of: other, to: row, added)
            }
        }
        if isJoinTable { try links.removeJoinRows(of: row.key, link.id, at: end.end) }
    }

    private mutating func recordDetachedLink(
        _ end: LinkEnd, of row: StoredRow, to other: StoredRow, _ added: Set<ResolvedLink>
    ) throws {
        if !added.isEmpty {
            let rows = TrackedLinks.key(row.key, other.key, end.end)
            if added.contains(.init(link: end.link.id, rows: rows)) { return try recordUndoneLink(end.link, rows) }
        }
        try recordRemovedLink(end.link, of: row, at: end.end, to: other.key)
    }

    /// Deletes rows, owned rows before their owners. Reports all of them first, because deleting a row can delete rows
    /// that reference it.
    private mutating func delete(_ closure: [StoredRow]) throws {
        try writeLinks()
        try previousValues?.capture(closure)
        for row in closure {
            guard let found = try identities[row] else { continue }
            report.deleted(found, isRoot: deletionCandidates[row].isOmittedFromScope)
        }
        for references in try store.delete(closure.reversed()) { outsideReferences.add(references) }
        // Triggers of the engine log the pending references of deleted rows.
        try store.deletePendingReferences(of: closure)
        links.removeRows(closure)
        identities.recordDeleted(closure)
    }
}

// MARK: - Tables outside the model

extension SyncTransaction {
    /// Reports the rows of tables outside the model that foreign keys deleted or changed, and those that deny the
    /// deletion of a row. The result of a plan has the denials as diagnostics, so that its caller can resolve them.
    ///
    /// - Throws: ``SyncError`` `deletionDenied` if the sync is not a plan.
    mutating func reportOutsideReferences(_ denied: [OutsideReferences]) throws {
        if !request.isDryRun, let first = denied.first {
            throw SyncError(
                .deletionDenied, first.message(in: model), entity: name(of: first.target),
                suggestion: OutsideReferences.suggestion)
        }
        for references in outsideReferences + denied {
            report.add(
                references.effect == .denied ? .deniedDeletion : .foreignKeyAction,
                model[references.target].root, key: references.targetKey,
                path: "tables.\(references.table).\(references.columns)", references.message(in: model),
                suggestion: references.effect == .denied ? OutsideReferences.suggestion : nil)
        }
    }

    func name(of table: TableID) -> String { model.entities[model[table].root].name }
}

extension OutsideReferences {
    fileprivate static let suggestion =
        "Delete or change these rows before the sync, or declare the foreign key with ON DELETE CASCADE or SET NULL."

    fileprivate func message(in model: CompiledModel) -> String {
        let rows = "\(count) row\(count == 1 ? "" : "s") of \(table), which is not in the model"
        switch effect {
        case .deleted: return "ON DELETE CASCADE of \(table).\(columns) deleted \(rows)"
        case .changed: return "ON DELETE SET NULL or SET DEFAULT of \(table).\(columns) changed \(rows)"
        case .denied:
            let root = model.entities[model[target].root]
            let key = targetKey.map { " \($0.recordKey(model.keyType(of: root.id)))" } ?? " rows"
            let others: String
            switch count {
            case 1: others = ""
            case 2: others = ", and 1 more row of \(table) references deleted rows"
            default: others = ", and \(count - 1) more rows of \(table) reference deleted rows"
            }
            let verb = targetKey == nil ? "references them" : "references it"
            return "cannot delete \(root.name)\(key): \(row) \(verb) by \(columns)\(others)"
        }
    }
}

/// Rows that the sync will delete or unlink, with the reason for each. They are collected from matching on, and
/// processed at the end of the sync.
struct DeletionCandidates {
    struct Reasons {
        /// The associations in which a replaced list omits the row. The sync deletes the row. The links are still
        /// stored, but count as removed.
        var unlisted: Set<AssociationID> = []
        /// The associations in which the row loses its link. The row stays.
        var unlinked: Set<AssociationID> = []
        /// Whether a root list omits the row from its scope, or the caller deletes the row. The sync deletes the row.
        var isOmittedFromScope = false
        /// The relationships of which a dangling link was removed. The row stays.
        var repairedRelationships: Set<String> = []
    }

    private var reasons: [StoredRow: Reasons] = [:]
    /// Rows that lost a link. Keyless rows among them are deleted unless a row with a key owns them.
    private var orphans: Set<StoredRow> = []

    subscript(row: StoredRow) -> Reasons {
        get { reasons[row] ?? Reasons() }
        _modify { yield &reasons[row, default: Reasons()] }
    }

    /// Returns the rows whose reasons satisfy a condition.
    func rows(where holds: (Reasons) -> Bool) -> Set<StoredRow> {
        Set(reasons.filter { holds($0.value) }.keys)
    }

    /// The rows that replaced lists omit.
    var unlisted: Set<StoredRow> { rows { !$0.unlisted.isEmpty } }

    mutating func addOmittedFromScope(_ rows: Set<StoredRow>) {
        for row in rows { self[row].isOmittedFromScope = true }
    }

    /// Keeps a link of a row that a list omits.
    ///
    /// - Returns: The other links that the row loses, if keeping this link means that the row is no longer deleted;
    ///   empty otherwise.
    mutating func preserveLink(_ link: AssociationID, of row: StoredRow) -> Set<AssociationID> {
        guard var known = reasons[row] else { return [] }
        known.unlinked.remove(link)
        let wasLeftOut = known.unlisted.remove(link) != nil
        reasons[row] = known
        return wasLeftOut && known.unlisted.isEmpty ? known.unlinked : []
    }

    // MARK: Orphans

    mutating func addOrphan(_ row: StoredRow) { orphans.insert(row) }
    mutating func addOrphans(_ rows: Set<StoredRow>) { orphans.formUnion(rows) }

    /// Returns the orphans collected so far and clears the set.
    mutating func removeAllOrphans() -> Set<StoredRow> {
        defer { orphans = [] }
        return orphans
    }
}
