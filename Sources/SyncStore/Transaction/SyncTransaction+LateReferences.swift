import SyncCore

// Ids of rows that are not stored are remembered, and linked when the rows arrive. What a payload says about a link
// wins over what was remembered.
extension SyncTransaction {
    mutating func linkLateReferences() throws {
        let remembered = try store.rememberedReferences()
        guard !remembered.isEmpty || !awaited.isEmpty else { return }
        let claimed = replacedEndsWithPending()
        let wanted = requestedReferences(claimed)
        var changes = PendingReferenceChanges()
        let isStored = try settle(remembered, wanted, claimed, &changes)
        for (index, new) in wanted.references.enumerated() where !isStored[index] {
            try steps.advance()
            remember(new, &changes)
            addUnresolved(new)
        }
        if !changes.forgotten.isEmpty { try store.forget(changes.forgotten) }
        if !changes.remembered.isEmpty { try store.remember(changes.remembered) }
        if run?.late.isEmpty == false {
            for reference in wanted.references where reference.position < 0 {
                try revertResolvedLink(reference.reference)
            }
        }
        try writeLinks()
        unresolved = wanted.references.map { named($0.reference) }
    }

    private func named(_ reference: PendingReference) -> SyncResult.UnresolvedReference {
        .init(
            entity: model.entities[reference.ownerEntity].name,
            key: reference.owner.key.recordKey(model.keyType(of: reference.ownerEntity)),
            relationship: reference.relationship,
            target: reference.target.recordKey(model.keyType(of: reference.targetEntity)))
    }

    // MARK: What is remembered

    /// - Returns: Of the wanted references, whether each is remembered already.
    private mutating func settle(
        _ remembered: [PositionedReference], _ wanted: RequestedReferences, _ claimed: ReplacedEnds,
        _ changes: inout PendingReferenceChanges
    ) throws -> [Bool] {
        var isStored = Array(repeating: false, count: wanted.references.count)
        guard !remembered.isEmpty else { return isStored }
        let arrived = try ArrivedTargets(remembered.map(\.reference), store, model)
        try load(remembered, arrived)
        var linked: Set<StoredRow> = []
        var listed = ListedOwners()
        for known in remembered {
            let reference = known.reference
            if let index = wanted.index(of: reference) {
                isStored[index] = true
                addUnresolved(known)
                if wanted.references[index].position != known.position {
                    release(known)
                    remember(wanted.references[index], &changes)
                }
            } else if isOwnerReplaced(reference, claimed) {
                forget(known, &changes)
            } else if isTargetReplaced(reference, arrived[reference], claimed) {
                if let target = arrived[reference] {
                    try takePlace(preservedPosition(known, &listed), of: target, reference)
                }
                try unlinkIfPending(reference, arrived)
                forget(known, &changes)
            } else if let target = try arrivedRow(reference, arrived) {
                if try !hasOwnLink(target, reference, linked) {
                    try link(reference, to: target, at: preservedPosition(known, &listed))
                    linked.insert(target)
                }
                forget(known, &changes)
            }
        }
        return isStored
    }

    /// Reads what linking rows that have arrived takes.
    private func load(_ remembered: [PositionedReference], _ arrived: ArrivedTargets) throws {
        try identities.load(remembered.lazy.map(\.reference.owner))
        try identities.load(arrived.all)
        var pairs: [AssociationID: [JoinKey]] = [:]
        var owners: [AssociationID: PerEnd<[RowKey]>] = [:]
        for reference in remembered.lazy.map(\.reference) {
            guard let relationship = relationship(of: reference) else { continue }
            owners[relationship.link, default: PerEnd([], [])][relationship.end].append(reference.owner.key)
            guard let target = arrived[reference] else { continue }
            let pair = TrackedLinks.pair(reference.owner.key, target.key, relationship.end)
            pairs[relationship.link, default: []].append(pair)
            if model[relationship.link].isSymmetric {
                pairs[relationship.link]?.append(JoinKey(first: pair.second, second: pair.first))
            }
        }
        for (link, owners) in owners {
            for end in [CompiledAssociation.End.first, .second] {
                try links.loadPreservedPositions(in: owners[end], link, end)
            }
        }
        for (id, pairs) in pairs {
            let link = model[id]
            for end in [CompiledAssociation.End.first, .second] where link.hasPlaces(end) || readsAllLinks(link, end) {
                try links.load(pairs.lazy.map { $0.row(end) }, id, from: end)
                try links.loadPreservedPositions(in: pairs.lazy.map { $0.row(end) }, id, end)
            }
            if link.storage == .joinTable { try links.load(pairs, id) }
        }
    }

    /// Whether what a row at an end is linked to decides how it may be linked anew.
    private func readsAllLinks(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> Bool {
        link.storage == .foreignKey && (end == .first || link.isOneToOne)
    }

    // MARK: Places

    /// The rows that the payload has ordered lists of, as far as they were asked for.
    private struct ListedOwners {
        struct End: Hashable {
            var link: AssociationID
            var end: CompiledAssociation.End
        }
        var owners: [End: Set<NodeID>] = [:]
    }

    /// The place that was kept for an awaited row; -1 if there is none, or if the payload has a list of its owner: that one
    /// is the last, whatever it leaves as it is.
    private func preservedPosition(_ known: PositionedReference, _ listed: inout ListedOwners) -> Int64 {
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
    private func takePlace(_ place: Int64, of target: StoredRow, _ reference: PendingReference) throws {
        guard place >= 0, let relationship = relationship(of: reference), relationship.isOrdered else { return }
        try links.takePlace(place, of: target.key, in: reference.owner.key, relationship.link, relationship.end)
    }

    // MARK: The store's memory

    private func remember(_ new: PositionedReference, _ changes: inout PendingReferenceChanges) {
        changes.remembered.append(new)
        guard let relationship = relationship(of: new.reference) else { return }
        links.keep(new.position, in: new.reference.owner.key, relationship.link, relationship.end)
    }

    private mutating func forget(_ known: PositionedReference, _ changes: inout PendingReferenceChanges) {
        if let link = oneLink(of: known.reference) { run?.awaited.remove(link) }
        changes.forgotten.append(known.reference)
        release(known)
    }

    /// The place is kept no more.
    private func release(_ known: PositionedReference) {
        guard let relationship = relationship(of: known.reference) else { return }
        links.release(known.position, in: known.reference.owner.key, relationship.link, relationship.end)
    }
}

// MARK: - Wanted references

// Which references the payload makes, and of which remembered ones it says something else.
extension SyncTransaction {
    /// When each end was last spoken for in words, by link and end: by the scope of a parent, too.
    func replacedEndsWithPending() -> ReplacedEnds {
        var claimed = ReplacedEnds(model.links.map { statements(of: $0.id).replacedEndsWithPending() })
        guard let parent = plan.parent, deletesMissing, predicate == nil, !plan.roots.contains(where: isUnread) else {
            return claimed
        }
        if claimed[parent.link, parent.end].isEmpty {
            claimed[parent.link, parent.end] = ReplacedEnd(count: tables[parent.table].batch.nodes.count)
        }
        claimed[parent.link, parent.end].record(parent.node, 0, deletes: false)
        return claimed
    }

    func requestedReferences(_ claimed: ReplacedEnds) -> RequestedReferences {
        var wanted = RequestedReferences(capacity: awaited.count)
        for (id, assertions) in awaited.all {
            for assertion in assertions {
                guard let reference = requestedReference(assertion, model[id], claimed) else { continue }
                wanted.add(reference, at: Int64(assertion.position))
            }
        }
        return wanted
    }

    func requestedReference(
        _ assertion: LinkBatch.Assertion, _ link: CompiledAssociation, _ claimed: ReplacedEnds
    ) -> PendingReference? {
        let end = assertion.saidBy
        let (owner, target) = assertion.ends(from: end)
        let table = tables[link.side(end).table]
        guard table.isPresent(owner), let relationship = link.side(end).relationship,
            Int64(assertion.sequence) >= claimed[link.id, end].sequence(of: owner),
            Int64(assertion.sequence) >= claimed[link.id, end.other].sequence(of: target),
            let row = table.row(owner),
            let key = RowKey(tables[link.side(end.other).table].batch.nodes[target.index].key, pool)
        else { return nil }
        return PendingReference(
            owner: row, ownerEntity: table.entity(of: owner), relationship: relationship.name,
            targetEntity: assertion.kind(at: end.other) ?? link.side(end.other).entity, target: key)
    }

    func isOwnerReplaced(_ reference: PendingReference, _ claimed: ReplacedEnds) -> Bool {
        guard let relationship = relationship(of: reference) else { return true }
        guard let owner = tables.node(of: reference.owner) else { return false }
        return claimed[relationship.link, relationship.end].speaks(of: owner)
    }

    func isTargetReplaced(_ reference: PendingReference, _ target: StoredRow?, _ claimed: ReplacedEnds) -> Bool {
        let table = tables[model.entities[reference.targetEntity].table]
        let node = table.hasHiddenKey ? target.flatMap { tables.node(of: $0) } : table.node(of: reference.target)
        guard let relationship = relationship(of: reference), let node,
            model.entity(table.entity(of: node), isKindOf: reference.targetEntity)
        else { return false }
        return claimed[relationship.link, relationship.end.other].speaks(of: node)
    }

    func relationship(of reference: PendingReference) -> CompiledRelationship? {
        model.entities[reference.ownerEntity].relationship(named: reference.relationship)
    }
}

// MARK: - RequestedReferences

/// The references that a payload makes and that no later statement of it replaced, each once, with their positions in the
/// lists that give them; -1 for a to-one reference.
struct RequestedReferences {
    private(set) var references: [PositionedReference] = []
    private var indexes: [PendingReference: Int] = [:]

    init(capacity: Int) {
        references.reserveCapacity(capacity)
        indexes.reserveCapacity(capacity)
    }

    /// Adds a reference; of the same one again the first counts.
    mutating func add(_ reference: PendingReference, at position: Int64) {
        let index = indexes[reference, default: references.count]
        guard index == references.count else { return }
        indexes[reference] = index
        references.append(PositionedReference(reference, at: position))
    }

    func index(of reference: PendingReference) -> Int? { indexes[reference] }
}

// MARK: - UnresolvedLinks

/// What a payload says of links to rows that are not there, by id: in the order in which links were decided.
struct UnresolvedLinks {
    private(set) var all: [(link: AssociationID, assertions: [LinkBatch.Assertion])] = []

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.reduce(0) { $0 + $1.assertions.count } }

    mutating func add(_ assertions: [LinkBatch.Assertion], _ link: AssociationID) {
        if !assertions.isEmpty { all.append((link, assertions)) }
    }

    /// What a link waits for.
    subscript(link: AssociationID) -> [LinkBatch.Assertion] { all.first { $0.link == link }?.assertions ?? [] }
}

// MARK: - ReplacedEnds

/// When the rows at the ends of each link were last spoken for in words.
struct ReplacedEnds {
    private var ends: [PerEnd<ReplacedEnd>]

    init(_ ends: [(first: ReplacedEnd, second: ReplacedEnd)]) { self.ends = ends.map { PerEnd($0.first, $0.second) } }

    subscript(link: AssociationID, end: CompiledAssociation.End) -> ReplacedEnd {
        get { ends[link.index][end] }
        set { ends[link.index][end] = newValue }
    }
}

// MARK: - PendingReferenceChanges

/// What becomes of the references that a store remembers.
struct PendingReferenceChanges {
    var remembered: [PositionedReference] = []
    var forgotten: [PendingReference] = []
}
