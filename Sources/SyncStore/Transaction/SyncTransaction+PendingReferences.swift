import SyncCore

// IDs of rows that are not stored become pending references, which are resolved when the rows arrive. Links that the
// payload asserts take precedence over earlier pending references.
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

    // MARK: Stored pending references

    /// Resolves, keeps or deletes the stored pending references.
    ///
    /// - Returns: For each requested reference, whether it is stored already.
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

    /// Loads what is needed to link rows that have arrived.
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

    /// Returns whether all links of rows at an end must be loaded, because a new link replaces an existing one.
    private func readsAllLinks(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> Bool {
        link.storage == .foreignKey && (end == .first || link.isOneToOne)
    }

    // MARK: Positions

    /// The rows with an ordered list in the payload, as far as they were queried.
    private struct ListedOwners {
        struct End: Hashable {
            var link: AssociationID
            var end: CompiledAssociation.End
        }
        var owners: [End: Set<NodeID>] = [:]
    }

    /// Returns the position that was reserved for a row that has arrived. Returns -1 if there is none, or if the
    /// payload has a list of the owner: that list decides the order.
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

    /// Moves a row to its reserved position in a list, if the row arrives with a link assertion to the owner of the
    /// list.
    private func takePlace(_ place: Int64, of target: StoredRow, _ reference: PendingReference) throws {
        guard place >= 0, let relationship = relationship(of: reference), relationship.isOrdered else { return }
        try links.takePlace(place, of: target.key, in: reference.owner.key, relationship.link, relationship.end)
    }

    // MARK: Changes of pending references

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

    /// Releases the position that was reserved for a pending reference.
    private func release(_ known: PositionedReference) {
        guard let relationship = relationship(of: known.reference) else { return }
        links.release(known.position, in: known.reference.owner.key, relationship.link, relationship.end)
    }
}

// MARK: - Requested references

// Collects the pending references of the payload, and decides which stored ones it replaces.
extension SyncTransaction {
    /// Returns the last replacement of each end, also by a reference to a missing row and by the scope of a parent.
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

/// The pending references of a payload that no later assertion replaces. Each is listed once, with its index in the
/// list that contains it; -1 for a to-one reference.
struct RequestedReferences {
    private(set) var references: [PositionedReference] = []
    private var indexes: [PendingReference: Int] = [:]

    init(capacity: Int) {
        references.reserveCapacity(capacity)
        indexes.reserveCapacity(capacity)
    }

    /// Adds a reference. If it is present already, the first one is kept.
    mutating func add(_ reference: PendingReference, at position: Int64) {
        let index = indexes[reference, default: references.count]
        guard index == references.count else { return }
        indexes[reference] = index
        references.append(PositionedReference(reference, at: position))
    }

    func index(of reference: PendingReference) -> Int? { indexes[reference] }
}

// MARK: - UnresolvedLinks

/// Link assertions by ID whose rows are not stored, in the order in which associations were resolved.
struct UnresolvedLinks {
    private(set) var all: [(link: AssociationID, assertions: [LinkBatch.Assertion])] = []

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.reduce(0) { $0 + $1.assertions.count } }

    mutating func add(_ assertions: [LinkBatch.Assertion], _ link: AssociationID) {
        if !assertions.isEmpty { all.append((link, assertions)) }
    }

    /// Returns the assertions of an association that are unresolved.
    subscript(link: AssociationID) -> [LinkBatch.Assertion] { all.first { $0.link == link }?.assertions ?? [] }
}

// MARK: - ReplacedEnds

/// The last replacement of the rows at each end of each association.
struct ReplacedEnds {
    private var ends: [PerEnd<ReplacedEnd>]

    init(_ ends: [(first: ReplacedEnd, second: ReplacedEnd)]) { self.ends = ends.map { PerEnd($0.first, $0.second) } }

    subscript(link: AssociationID, end: CompiledAssociation.End) -> ReplacedEnd {
        get { ends[link.index][end] }
        set { ends[link.index][end] = newValue }
    }
}

// MARK: - PendingReferenceChanges

/// Pending references to store and to delete.
struct PendingReferenceChanges {
    var remembered: [PositionedReference] = []
    var forgotten: [PendingReference] = []
}
