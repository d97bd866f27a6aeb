import SyncCore

// Ids of rows that are not stored are remembered, and linked when the rows arrive. What a payload says about a link
// wins over what was remembered.
extension SyncTransaction {
    mutating func linkLateReferences() throws {
        let remembered = try store.rememberedReferences()
        guard !remembered.isEmpty || !awaited.isEmpty else { return }
        let claimed = claimedEnds()
        let wanted = wantedReferences(claimed)
        var changes = ReferenceChanges()
        let isStored = try settle(remembered, wanted, claimed, &changes)
        for (index, new) in wanted.references.enumerated() where !isStored[index] {
            try steps.advance()
            remember(new, &changes)
            noteAwaited(new)
        }
        if !changes.forgotten.isEmpty { try store.forget(changes.forgotten) }
        if !changes.remembered.isEmpty { try store.remember(changes.remembered) }
        if run?.late.isEmpty == false {
            for reference in wanted.references where reference.position < 0 {
                try takeBackLateLink(reference.reference)
            }
        }
        try writeLinks()
        unresolved = wanted.references.map { named($0.reference) }
    }

    private func named(_ reference: LateReference) -> SyncResult.UnresolvedReference {
        .init(
            entity: model.entities[reference.ownerEntity].name,
            key: reference.owner.key.recordKey(model.keyType(of: reference.ownerEntity)),
            relationship: reference.relationship,
            target: reference.target.recordKey(model.keyType(of: reference.targetEntity)))
    }

    // MARK: What is remembered

    /// - Returns: Of the wanted references, whether each is remembered already.
    private mutating func settle(
        _ remembered: [RememberedReference], _ wanted: WantedReferences, _ claimed: ClaimedEnds,
        _ changes: inout ReferenceChanges
    ) throws -> [Bool] {
        var isStored = Array(repeating: false, count: wanted.references.count)
        guard !remembered.isEmpty else { return isStored }
        let arrived = try ArrivedRows(remembered.map(\.reference), store, model)
        try load(remembered, arrived)
        var linked: Set<StoredRow> = []
        var listed = ListedOwners()
        for known in remembered {
            let reference = known.reference
            if let index = wanted.index(of: reference) {
                isStored[index] = true
                noteAwaited(known)
                if wanted.references[index].position != known.position {
                    release(known)
                    remember(wanted.references[index], &changes)
                }
            } else if isOwnerSpokenFor(reference, claimed) {
                forget(known, &changes)
            } else if isTargetSpokenFor(reference, arrived[reference], claimed) {
                if let target = arrived[reference] {
                    try takePlace(keptPlace(known, &listed), of: target, reference)
                }
                try unlinkIfAwaited(reference, arrived)
                forget(known, &changes)
            } else if let target = try arrivedRow(reference, arrived) {
                if try !hasOwnLink(target, reference, linked) {
                    try link(reference, to: target, at: keptPlace(known, &listed))
                    linked.insert(target)
                }
                forget(known, &changes)
            }
        }
        return isStored
    }

    /// Reads what linking rows that have arrived takes.
    private func load(_ remembered: [RememberedReference], _ arrived: ArrivedRows) throws {
        try identities.load(remembered.lazy.map(\.reference.owner))
        try identities.load(arrived.all)
        var pairs: [LinkID: [LinkedRows]] = [:]
        var owners: [LinkID: BothEnds<[RowKey]>] = [:]
        for reference in remembered.lazy.map(\.reference) {
            guard let relationship = relationship(of: reference) else { continue }
            owners[relationship.link, default: BothEnds([], [])][relationship.end].append(reference.owner.key)
            guard let target = arrived[reference] else { continue }
            let pair = LinkMemory.pair(reference.owner.key, target.key, relationship.end)
            pairs[relationship.link, default: []].append(pair)
            if model[relationship.link].isSymmetric {
                pairs[relationship.link]?.append(LinkedRows(first: pair.second, second: pair.first))
            }
        }
        for (link, owners) in owners {
            for end in [Link.End.first, .second] { try links.loadKeptPlaces(in: owners[end], link, end) }
        }
        for (id, pairs) in pairs {
            let link = model[id]
            for end in [Link.End.first, .second] where link.hasPlaces(end) || readsAllLinks(link, end) {
                try links.load(pairs.lazy.map { $0.row(end) }, id, from: end)
                try links.loadKeptPlaces(in: pairs.lazy.map { $0.row(end) }, id, end)
            }
            if link.storage == .joinTable { try links.load(pairs, id) }
        }
    }

    /// Whether what a row at an end is linked to decides how it may be linked anew.
    private func readsAllLinks(_ link: Link, _ end: Link.End) -> Bool {
        link.storage == .foreignKey && (end == .first || link.isOneToOne)
    }

    // MARK: Places

    /// The rows that the payload has ordered lists of, as far as they were asked for.
    private struct ListedOwners {
        struct End: Hashable {
            var link: LinkID
            var end: Link.End
        }
        var owners: [End: Set<NodeID>] = [:]
    }

    /// The place that was kept for an awaited row; -1 if there is none, or if the payload has a list of its owner: that one
    /// is the last, whatever it leaves as it is.
    private func keptPlace(_ known: RememberedReference, _ listed: inout ListedOwners) -> Int64 {
        guard known.position >= 0, let relationship = relationship(of: known.reference), relationship.isOrdered,
            let owner = tables.node(of: known.reference.owner)
        else { return known.position }
        let end = ListedOwners.End(link: relationship.link, end: relationship.end)
        let owners = listed.owners[end] ?? listedOwners(end)
        listed.owners[end] = owners
        return owners.contains(owner) ? -1 : known.position
    }

    private func listedOwners(_ end: ListedOwners.End) -> Set<NodeID> {
        let listed = statements(of: end.link).stated.filter { $0.saidBy == end.end && $0.position >= 0 }
        return Set(listed.map { $0.ends(from: end.end).owner })
    }

    /// A listed row that arrives, and itself says that it is linked to the row whose list it is in, has its place there.
    private func takePlace(_ place: Int64, of target: StoredRow, _ reference: LateReference) throws {
        guard place >= 0, let relationship = relationship(of: reference), relationship.isOrdered else { return }
        try links.takePlace(place, of: target.key, in: reference.owner.key, relationship.link, relationship.end)
    }

    // MARK: The store's memory

    private func remember(_ new: RememberedReference, _ changes: inout ReferenceChanges) {
        changes.remembered.append(new)
        guard let relationship = relationship(of: new.reference) else { return }
        links.keep(new.position, in: new.reference.owner.key, relationship.link, relationship.end)
    }

    private mutating func forget(_ known: RememberedReference, _ changes: inout ReferenceChanges) {
        if let link = oneLink(of: known.reference) { run?.awaited.remove(link) }
        changes.forgotten.append(known.reference)
        release(known)
    }

    /// The place is kept no more.
    private func release(_ known: RememberedReference) {
        guard let relationship = relationship(of: known.reference) else { return }
        links.release(known.position, in: known.reference.owner.key, relationship.link, relationship.end)
    }
}
