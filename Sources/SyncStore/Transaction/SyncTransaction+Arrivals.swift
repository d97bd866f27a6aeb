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

// MARK: - Replaced references

// Several references of a paged import may set one link to rows that are not stored yet. In one payload, the last one
// whose row comes with the payload applies. A paged import must end with the same links. It therefore keeps a replaced
// reference until its row or that of a later one arrives, or a record sets the link.
extension SyncTransaction {
    /// Returns the references that earlier pages replaced.
    func earlierReplacedReferences() -> ReplacedReferences {
        var replaced = ReplacedReferences()
        for earlier in pagedImport?.replacedReferences ?? [] {
            guard let relationship = model[earlier.link.link].side(earlier.link.end).relationship else { continue }
            let reference = PendingReference(
                owner: earlier.link.row, ownerEntity: earlier.ownerEntity, relationship: relationship.name,
                targetEntity: earlier.targetEntity, target: earlier.target)
            replaced.entries.append(.init(reference: reference, link: earlier.link, links: earlier.links))
        }
        return replaced
    }

    /// Keeps a stored reference that this page replaces, if an earlier page stated it.
    func addReplaced(_ reference: PendingReference, to replaced: inout ReplacedReferences) {
        guard let link = oneLink(of: reference), isOfImport(reference) else { return }
        replaced.entries.append(.init(reference: reference, link: link))
    }

    /// Records that a reference decides the links at both of its ends, because its row has arrived.
    func addDecided(_ reference: PendingReference, to replaced: inout ReplacedReferences) {
        guard !replaced.entries.isEmpty, let link = oneLink(of: reference) else { return }
        replaced.decided.insert(link)
        if let target = referencedRow(reference, link.link, link.end.other) { replaced.taken.insert(target) }
    }

    /// Returns whether the links of the referenced row were replaced. A reference to a row that is not stored does not
    /// replace a reference of the same import to a row that has arrived.
    func isTargetReplaced(
        _ reference: PendingReference, _ target: StoredRow?, _ replacedEnds: ReplacedEnds,
        _ replaced: inout ReplacedReferences
    ) -> Bool {
        guard isTargetReplaced(reference, target, replacedEnds) else { return false }
        guard target != nil, isOfImport(reference) else { return true }
        return isTargetReplaced(reference, target, effectiveEnds(&replaced))
    }

    /// Returns the replacements by statements about rows that are stored.
    private func effectiveEnds(_ replaced: inout ReplacedReferences) -> ReplacedEnds {
        if let known = replaced.effectiveEnds { return known }
        let ends = ReplacedEnds(model.links.map { statements(of: $0.id).replacedEnds(countsPending: false) })
        replaced.effectiveEnds = ends
        return ends
    }

    /// Applies the replaced references whose rows have arrived, and keeps the others for later pages.
    mutating func resolve(
        _ replaced: inout ReplacedReferences, _ requested: RequestedReferences, _ arrived: ArrivedTargets,
        _ linked: inout Set<PagedImportState.ToOneLink>
    ) throws {
        guard !replaced.entries.isEmpty || !requested.replaced.isEmpty else { return }
        let effective = effectiveEnds(&replaced)
        for index in replaced.entries.indices {
            let reference = replaced.entries[index].reference
            if isOwnerReplaced(reference, effective) { replaced.entries[index].isDecided = true }
        }
        addReplaced(requested, effective, to: &replaced)
        let applied = try replaced.take { entry in
            if requested.index(of: entry.reference) != nil { return .repeated }
            return try arrivedRow(entry.reference, arrived) == nil ? .missing : .arrived
        } target: {
            referencedRow($0.reference, $0.link.link, $0.link.end.other)
        }
        pagedImport?.replacedReferences = replaced.entries.map {
            .init(
                link: $0.link, ownerEntity: $0.reference.ownerEntity, target: $0.reference.target,
                targetEntity: $0.reference.targetEntity, links: $0.links)
        }
        for entry in applied { try apply(entry, effective, arrived, &linked) }
    }

    /// Adds the references of this page that later statements of the page replace.
    private func addReplaced(
        _ requested: RequestedReferences, _ effective: ReplacedEnds, to replaced: inout ReplacedReferences
    ) {
        for (id, assertion) in requested.replaced.sorted(by: { $0.assertion.sequence < $1.assertion.sequence }) {
            guard let reference = pendingReference(assertion, model[id]), let link = oneLink(of: reference) else {
                continue
            }
            // In a symmetric association, the end can differ from that of the relationship.
            let owner = assertion.ends(from: assertion.assertedBy).owner
            let isDecided = Int64(assertion.sequence) < effective[id, assertion.assertedBy].sequence(of: owner)
            replaced.entries.append(.init(reference: reference, link: link, isDecided: isDecided))
        }
    }

    private mutating func apply(
        _ entry: ReplacedReferences.Entry, _ effective: ReplacedEnds, _ arrived: ArrivedTargets,
        _ linked: inout Set<PagedImportState.ToOneLink>
    ) throws {
        guard let target = try arrivedRow(entry.reference, arrived) else { return }
        pagedImport?.pendingLinks.insert(entry.link)
        if !entry.links || isTargetReplaced(entry.reference, target, effective) {
            try unlinkIfPending(entry.reference, arrived)
        } else if try !hasOwnLink(target, entry.reference, linked) {
            try link(entry.reference, to: target, at: -1)
            if let made = targetLink(target, entry.reference) { linked.insert(made) }
        }
    }
}

/// The to-one references of a paged import that later references to rows that are not stored replaced, in document
/// order.
struct ReplacedReferences {
    struct Entry {
        let reference: PendingReference
        let link: PagedImportState.ToOneLink
        /// Whether the reference links the rows when its row arrives. Otherwise it only removes the earlier link of its
        /// owner, because another reference took the row, and a record then decided the link of that owner.
        var links = true
        /// Whether a later record decides the link of the owner.
        var isDecided = false
    }

    /// The row that a reference needs.
    enum Row { case missing, arrived, repeated }

    var entries: [Entry] = []
    /// The links that later references decided, because their rows arrived.
    var decided: Set<PagedImportState.ToOneLink> = []
    /// The rows that later references took.
    var taken: Set<PagedImportState.ReferencedRow> = []
    /// The replacements by statements about rows that are stored; nil before they are needed.
    var effectiveEnds: ReplacedEnds?

    /// Removes the entries that no longer matter, and returns those whose rows have arrived.
    mutating func take(
        _ row: (Entry) throws -> Row, target: (Entry) -> PagedImportState.ReferencedRow?
    ) rethrows -> [Entry] {
        var (kept, applied): ([Entry], [Entry]) = ([], [])
        for var entry in entries.reversed() {
            let target = target(entry)
            if let target, taken.contains(target) { entry.links = false }
            let found = try row(entry)
            if found == .repeated { continue }
            let isOver = entry.isDecided || decided.contains(entry.link)
            if !isOver, found == .missing {
                kept.append(entry)
                continue
            }
            if let target { taken.insert(target) }
            guard !isOver else { continue }
            decided.insert(entry.link)
            applied.append(entry)
        }
        entries = kept.reversed()
        return applied.reversed()
    }
}
