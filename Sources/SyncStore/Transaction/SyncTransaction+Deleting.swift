import SyncCore

// Deletions come last, on the final state, in rounds: what the scope, the lists and the delete rules doom; then what
// that frees into the scope or leaves without an owner.
extension SyncTransaction {
    mutating func deleteRows() throws {
        try spareDoubtfulRows()
        try clearLinksOfLeftOutRows()
        var doomed = leaving.leftOut
        leaving.addOutOfScope(try scopeRows(isFirstRound: true).subtracting(doomed))
        reportSkippedDeletions()
        doomed.formUnion(leaving.rows(where: \.isOutOfScope))
        doomed.formUnion(try ownerlessRows())
        while !doomed.isEmpty {
            let closure = try closure(of: doomed)
            try refuseDenied(closure)
            try detach(closure)
            try delete(closure)
            let scoped = try scopeRows(isFirstRound: false)
            leaving.addOutOfScope(scoped)
            doomed = scoped.union(try ownerlessRows())
        }
    }

    // MARK: Links to follow

    /// An end of a link that rows of a table are at.
    private final class LinkEnd {
        let link: CompiledAssociation
        let end: CompiledAssociation.End

        init(_ link: CompiledAssociation, _ end: CompiledAssociation.End) { (self.link, self.end) = (link, end) }

        var other: TableID { link.side(end.other).table }
        /// Whether the rows that a row here is linked to go with it.
        var cascades: Bool {
            let rule = link.side(end).relationship?.deleteRule
            return rule == .cascade || (link.isKeyPart && end == .second && rule != .deny)
        }
    }

    /// Of each table, the links its rows can have and the ends they are at, if they are wanted.
    private func ends(where isWanted: (LinkEnd) -> Bool) -> [[LinkEnd]] {
        model.trees.map { tree in
            model.links.flatMap { link in link.ends(in: tree.id).map { LinkEnd(link, $0) } }.filter(isWanted)
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

    // MARK: Rows without an owner

    /// Keyless rows that lost a link and have none left.
    private mutating func ownerlessRows() throws -> Set<StoredRow> {
        let orphans = leaving.removeAllOrphans()
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

    /// Reads what leads to keyless rows, through other keyless rows too.
    private func loadOwners(of rows: Set<StoredRow>, _ ends: [[LinkEnd]]) throws {
        var seen = rows
        var next = rows
        while !next.isEmpty {
            try load(next, ends)
            let owners = try next.lazy.flatMap { row in
                try ends[row.table.index].flatMap { try targets(of: row, $0) }
            }
            let hidden = Set(owners.filter { tables[$0.table].hasHiddenKey }).subtracting(seen)
            try identities.load(hidden)
            next = try hidden.filter { try identities.isKeyless($0) }
            seen.formUnion(next)
        }
    }

    /// Whether a row with a key leads to a keyless one: by its own relationships, directly or through other keyless rows.
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

    /// The rows and everything their deletion cascades to, owners before what they own. A row that the payload mentions
    /// stays, and what it owns with it.
    private mutating func closure(of rows: Set<StoredRow>) throws -> [StoredRow] {
        let cascades = ends { $0.cascades }
        let doubtful = doubtfulTables
        var seen = rows
        var closure: [StoredRow] = []
        var level = rows.sorted {
            ($0.table.index, $0.key.recordKey(nil)) < ($1.table.index, $1.key.recordKey(nil))
        }
        while !level.isEmpty {
            closure += level
            try load(level, cascades)
            var owned: [StoredRow] = []
            // Rows whose keys are made of those of the rows that go: nothing could name them any more.
            var parts: Set<StoredRow> = []
            for row in level {
                try steps.advance()
                for end in cascades[row.table.index] {
                    let found = try targets(of: row, end)
                    if end.link.isKeyPart { parts.formUnion(found) }
                    owned += found
                }
            }
            try loadMarks(of: owned)
            level = try owned.filter { row in
                let stays = try doubtful.contains(row.table) || isMentioned(row)
                return (parts.contains(row) || !stays) && seen.insert(row).inserted
            }
        }
        return closure
    }

    private func refuseDenied(_ closure: [StoredRow]) throws {
        let denials = ends { $0.link.side($0.end).relationship?.deleteRule == .deny }
        guard denials.contains(where: { !$0.isEmpty }) else { return }
        try load(closure, denials)
        let going = Set(closure)
        for row in closure {
            for end in denials[row.table.index] {
                if end.end == .first, isCut(end.link.id, of: row) { continue }
                let staying = try targets(of: row, end).filter { !going.contains($0) }
                guard !staying.isEmpty, let found = try identities[row] else { continue }
                let entity = model.entities[found.entity].name
                let name = "\(entity).\(end.link.side(end.end).relationship?.name ?? "")"
                throw SyncError(
                    .deletionDenied,
                    "\(entity) \(found.key) cannot be deleted: denied by \(name), which still has \(staying.count)",
                    entity: entity)
            }
        }
    }

    /// Whether the payload took a foreign key from a row to be deleted, for which it is not written any more.
    private func isCut(_ link: AssociationID, of row: StoredRow) -> Bool {
        leaving[row].leftOut.contains(link) || leaving[row].unlinked.contains(link)
    }

    /// Removes the links of rows that go to rows that stay.
    private mutating func detach(_ closure: [StoredRow]) throws {
        let ends = ends { _ in true }
        try load(closure, ends)
        try loadIdentities(of: closure, ends)
        let going = Set(closure)
        for row in closure {
            try steps.advance()
            for end in ends[row.table.index] { try detach(row, end, going) }
        }
    }

    /// Reads what becomes of the rows that go and of those they are linked to.
    private func loadIdentities(of closure: [StoredRow], _ ends: [[LinkEnd]]) throws {
        try identities.load(closure)
        let others = try closure.lazy.flatMap { row in
            try ends[row.table.index]
                .filter { history != nil || ($0.link.storage == .foreignKey && $0.end == .second) }
                .flatMap { try targets(of: row, $0) }
        }
        try identities.load(others)
    }

    private mutating func detach(_ row: StoredRow, _ end: LinkEnd, _ going: Set<StoredRow>) throws {
        let (link, isJoinTable) = (end.link, end.link.storage == .joinTable)
        let targets = try targets(of: row, end)
        for other in targets where !going.contains(other) {
            if tables[other.table].hasHiddenKey { leaving.addOrphan(other) }
            if !isJoinTable, end.end == .second { try clearForeignKey(of: other, link) }
        }
        // A foreign key between two rows that go is met from both ends, a row of a join table only once.
        let isBookedThere = end.end == .second && !isJoinTable
        for other in targets where !isBookedThere || !going.contains(other) {
            try recordRemovedLink(link, of: row, at: end.end, to: other.key)
        }
        if isJoinTable { try links.removeJoinRows(of: row.key, link.id, at: end.end) }
    }

    /// Deletes rows, what they own before them. Notes all of them first: a foreign key may delete one along with another.
    private mutating func delete(_ closure: [StoredRow]) throws {
        try writeLinks()
        try history?.keep(closure)
        for row in closure {
            guard let found = try identities[row] else { continue }
            report.deleted(found, isRoot: leaving[row].isOutOfScope)
        }
        try store.deletePendingReferences(of: closure)
        try store.delete(closure.reversed())
        links.forget(closure)
        identities.recordDeleted(closure)
    }
}

/// The stored rows that a sync deletes or takes links from although no record of it says so, and why. Noted from when rows
/// are matched on, and acted on at its end.
struct DeletionCandidates {
    struct Reasons {
        /// The links through which a list of objects leaves it out, so that it goes. They are gone on the final state,
        /// though still stored.
        var leftOut: Set<AssociationID> = []
        /// Links that it loses; it stays.
        var unlinked: Set<AssociationID> = []
        /// Whether the scope of the root leaves it out, so that it goes.
        var isOutOfScope = false
        /// The relationships in which it led to rows that are not stored, which it does no more; it stays.
        var mended: Set<String> = []
    }

    private var reasons: [StoredRow: Reasons] = [:]
    /// Rows without a key that lost a link: they go unless a row with a key leads to them.
    private var orphans: Set<StoredRow> = []

    subscript(row: StoredRow) -> Reasons {
        get { reasons[row] ?? Reasons() }
        _modify { yield &reasons[row, default: Reasons()] }
    }

    /// The rows of which something holds.
    func rows(where holds: (Reasons) -> Bool) -> Set<StoredRow> {
        Set(reasons.filter { holds($0.value) }.keys)
    }

    /// The rows that lists leave out.
    var leftOut: Set<StoredRow> { rows { !$0.leftOut.isEmpty } }

    mutating func addOutOfScope(_ rows: Set<StoredRow>) {
        for row in rows { self[row].isOutOfScope = true }
    }

    /// A row keeps a link after all.
    ///
    /// - Returns: The links it loses all the same, if it would have gone with that one.
    mutating func keep(_ link: AssociationID, of row: StoredRow) -> Set<AssociationID> {
        guard var known = reasons[row] else { return [] }
        known.unlinked.remove(link)
        let wasLeftOut = known.leftOut.remove(link) != nil
        reasons[row] = known
        return wasLeftOut && known.leftOut.isEmpty ? known.unlinked : []
    }

    // MARK: Orphans

    mutating func addOrphan(_ row: StoredRow) { orphans.insert(row) }
    mutating func addOrphans(_ rows: Set<StoredRow>) { orphans.formUnion(rows) }

    /// The orphans there are by now; who is noted from here on is another one.
    mutating func removeAllOrphans() -> Set<StoredRow> {
        defer { orphans = [] }
        return orphans
    }
}
