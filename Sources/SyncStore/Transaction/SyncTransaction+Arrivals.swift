import SyncCore

// Links rows that have arrived to the rows with pending references to them.
extension SyncTransaction {
    /// Returns the row of a pending reference. Returns nil if the row or the owner is not stored, or if the row is not
    /// of the required entity. Reads nothing if `arrived` has no row with the key.
    func arrivedRow(_ reference: PendingReference, _ arrived: ArrivedTargets) throws -> StoredRow? {
        guard let target = arrived[reference], let relationship = relationship(of: reference),
            try identities[reference.owner] != nil, let found = try identities[target],
            model.entity(found.entity, isKindOf: relationship.destination),
            model.entity(found.entity, isKindOf: reference.targetEntity)
        else { return nil }
        return target
    }

    /// Returns whether a row that has arrived already has a link that takes precedence over a pending reference. Only a
    /// row that code other than a sync inserted can have one. A row that the caller has just given another key has
    /// none.
    ///
    /// - Parameter linked: The links that this sync has made by pending references. They do not count.
    func hasOwnLink(
        _ target: StoredRow, _ reference: PendingReference, _ linked: Set<PagedImportState.ToOneLink>
    ) throws -> Bool {
        guard target != request.rekeyedRow, let link = targetLink(target, reference), !linked.contains(link) else {
            return false
        }
        return try !links.targets(of: target.key, link.link, from: link.end).isEmpty
    }

    /// Returns the link that a reference gives the row that has arrived; nil if that row can have several.
    func targetLink(_ target: StoredRow, _ reference: PendingReference) -> PagedImportState.ToOneLink? {
        guard let relationship = relationship(of: reference),
            !model[relationship.link].side(relationship.end.other).isToMany
        else { return nil }
        return .init(row: target, link: relationship.link, end: relationship.end.other)
    }

    mutating func link(_ reference: PendingReference, to target: StoredRow, at place: Int64) throws {
        guard let relationship = relationship(of: reference) else { return }
        let link = model[relationship.link]
        let (first, second) = relationship.end == .first ? (reference.owner, target) : (target, reference.owner)
        try addResolvedLink(reference, link, first, second)
        try self.link(link, first, second)
        if link.isSymmetric, first != second { try self.link(link, second, first) }
        try links.moveToPosition(place, of: target.key, in: reference.owner.key, link.id, relationship.end)
    }

    private mutating func link(_ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow) throws {
        if link.storage == .foreignKey { return try setTarget(link, first, second) }
        let isNew = try links.add(JoinKey(first: first.key, second: second.key), link.id)
        if isNew { try recordAddedLink(link, first, second) }
    }

    /// Sets the foreign key of a stored row, with the last position in the list of the referenced row.
    mutating func setTarget(_ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow) throws {
        if link.isOneToOne {
            for holder in try links.targets(of: second.key, link.id, from: .second) where holder != first.key {
                try recordRemovedLink(link, of: second, at: .second, to: holder)
                try clearForeignKey(of: StoredRow(table: first.table, key: holder), link)
            }
        }
        let current = try links.target(of: first.key, link.id)
        guard current != second.key else { return }
        if let current { try recordRemovedLink(link, of: first, at: .first, to: current) }
        try links.setTarget(second.key, of: first.key, link.id)
        // The list of the previous owner omits the row, but the row now has another owner. So the list does not delete
        // it.
        try unlink(first, deletionCandidates.preserveLink(link.id, of: first))
        try recordAddedLink(link, first, second)
        if let found = try identities[first] {
            recordUpdate(found, first, [link.first.relationship?.name].compactMap { $0 })
        }
    }
}

/// The stored rows with the keys of pending references, except rows that the references do not mean.
struct ArrivedTargets {
    private var rows: [PendingReference: StoredRow] = [:]

    init(_ references: [PendingReference], _ store: any StoreSession, _ model: CompiledModel) throws {
        for (id, references) in Dictionary(grouping: references, by: \.targetEntity) {
            let entity = model.entities[id]
            let keys = Array(Set(references.map(\.target)))
            let found = Dictionary(
                zip(keys, try store.rows(withKeys: keys, of: entity)), uniquingKeysWith: { $1 })
            for reference in references {
                guard let key = found[reference.target] ?? nil else { continue }
                rows[reference] = StoredRow(table: entity.table, key: key)
            }
        }
        guard !rows.isEmpty else { return }
        for reference in try store.referencesToOtherRows(among: Array(rows.keys)) { rows[reference] = nil }
    }

    /// The row that a reference means; nil if it is not stored. Its entity can be another than the reference
    /// requires.
    subscript(reference: PendingReference) -> StoredRow? { rows[reference] }

    var all: some Sequence<StoredRow> { rows.values }
}

// MARK: - Pending links of a paged import

// A paged import must end with the same rows as one payload. In one payload, an ID may reference a record before or
// after it. Links that records assert apply before the pending references of earlier syncs.
extension SyncTransaction {
    /// Returns the to-one link that a reference sets; nil for a to-many relationship, or outside a paged import.
    func oneLink(of reference: PendingReference) -> PagedImportState.ToOneLink? {
        guard pagedImport != nil, let relationship = relationship(of: reference), !relationship.isToMany else {
            return nil
        }
        return .init(row: reference.owner, link: relationship.link, end: relationship.end)
    }

    /// Returns the row that a reference in a list references, if it can have only one link; nil otherwise, or outside a
    /// paged import.
    private func listedRow(_ reference: PendingReference) -> PagedImportState.ReferencedRow? {
        guard pagedImport != nil, let relationship = relationship(of: reference), relationship.isToMany else {
            return nil
        }
        return referencedRow(reference, relationship.link, relationship.end.other)
    }

    /// Returns the row that a reference references, if it can have only one link at its end; otherwise nil.
    func referencedRow(
        _ reference: PendingReference, _ link: AssociationID, _ end: CompiledAssociation.End
    ) -> PagedImportState.ReferencedRow? {
        model[link].side(end).isToMany ? nil : .init(key: reference.target, link: link, end: end)
    }

    /// Records that a page sets a link to a row that is not stored yet, if one of the rows can have only this link.
    mutating func addUnresolved(_ reference: PositionedReference) {
        if reference.position < 0, let link = oneLink(of: reference.reference) {
            pagedImport?.pendingLinks.insert(link)
        } else if let row = listedRow(reference.reference) {
            pagedImport?.pendingListedRows.insert(row)
        }
    }

    /// Removes what ``addUnresolved(_:)`` recorded.
    mutating func removeUnresolved(_ reference: PendingReference) {
        if let link = oneLink(of: reference) {
            pagedImport?.pendingLinks.remove(link)
        } else if let row = listedRow(reference) {
            pagedImport?.pendingListedRows.remove(row)
        }
    }

    /// Returns whether a page of the import stated a pending reference.
    func isOfImport(_ reference: PendingReference) -> Bool {
        guard let state = pagedImport else { return false }
        return oneLink(of: reference).map(state.pendingLinks.contains)
            ?? listedRow(reference).map(state.pendingListedRows.contains) ?? false
    }

    /// Removes earlier links of an owner whose pending to-one reference no longer applies, because a replaced list of
    /// the referenced row decides its links.
    ///
    /// In one payload, the reference would first replace the earlier link of the owner, and the list would then remove
    /// the new link. The owner would have no link at the end.
    mutating func unlinkIfPending(_ reference: PendingReference, _ arrived: ArrivedTargets) throws {
        guard let one = oneLink(of: reference), pagedImport?.pendingLinks.contains(one) == true else { return }
        let target = try arrivedRow(reference, arrived)?.key
        let link = model[one.link]
        for other in try links.targets(of: one.row.key, one.link, from: one.end) where other != target {
            let otherRow = StoredRow(table: link.side(one.end.other).table, key: other)
            try unlink(one.end == .first ? one.row : otherRow, [one.link])
            if link.isSymmetric { try unlink(otherRow, [one.link]) }
        }
    }

    /// Records the value of a foreign key before a pending reference from before the paged import changes it. A later
    /// page can then restore the value.
    mutating func addResolvedLink(
        _ reference: PendingReference, _ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow
    ) throws {
        guard pagedImport != nil, link.storage == .foreignKey, !link.isSymmetric, !isOfImport(reference) else { return }
        let before = try links.target(of: first.key, link.id)
        pagedImport?.resolvedReferences[.init(row: first, link: link.id, end: .first)] = .init(
            target: second.key, before: before)
    }

    /// Loads the rows, links and positions that ``revertResolvedLink(_:)`` needs.
    func loadResolvedLinks(of references: [PendingReference]) throws {
        for (id, ones) in Dictionary(grouping: references.compactMap { oneLink(of: $0) }, by: \.link) {
            let link = model[id]
            guard link.storage == .foreignKey else { continue }
            try links.load(ones.lazy.filter { $0.end == .second }.map(\.row.key), id, from: .second)
            var (firsts, targets, before): ([RowKey], [RowKey], [RowKey]) = ([], [], [])
            for one in ones {
                let holders = one.end == .first ? [one.row.key] : try links.targets(of: one.row.key, id, from: .second)
                for holder in holders {
                    let first = StoredRow(table: link.first.table, key: holder)
                    let known = pagedImport?.resolvedReferences[.init(row: first, link: id, end: .first)]
                    guard let known else { continue }
                    firsts.append(holder)
                    targets.append(known.target)
                    if let earlier = known.before { before.append(earlier) }
                }
            }
            try links.load(firsts, id, from: .first)
            try identities.load(firsts.lazy.map { StoredRow(table: link.first.table, key: $0) })
            if link.hasPositions(.second) || link.isOneToOne { try links.load(before, id, from: .second) }
            try links.loadReservedPositions(in: before, id, .second)
            if previousValues != nil {
                try identities.load((targets + before).lazy.map { StoredRow(table: link.second.table, key: $0) })
            }
        }
    }

    /// Restores a foreign key that a pending reference from before the paged import changed on an earlier page. The
    /// current page sets the link to a row that is not stored yet, so the earlier reference does not apply.
    mutating func revertResolvedLink(_ reference: PendingReference) throws {
        guard let one = oneLink(of: reference) else { return }
        let link = model[one.link]
        let holders =
            one.end == .first ? [one.row.key] : try links.targets(of: one.row.key, one.link, from: .second)
        for holder in holders {
            let first = StoredRow(table: link.first.table, key: holder)
            guard
                let late = pagedImport?.resolvedReferences.removeValue(
                    forKey: .init(row: first, link: one.link, end: .first)),
                try links.target(of: first.key, one.link) == late.target
            else { continue }
            if let before = late.before {
                try setTarget(link, first, StoredRow(table: link.second.table, key: before))
            } else {
                try unlink(first, [one.link])
            }
        }
    }
}
