import SyncCore

// IDs of rows that are not stored become pending references, which are resolved when the rows arrive. Links that the
// payload asserts take precedence over earlier pending references.
extension SyncTransaction {
    mutating func resolvePendingReferences() throws {
        let pending = try store.pendingReferences()
        let hasReplaced = pagedImport?.replacedReferences.isEmpty == false
        guard !pending.isEmpty || !unresolvedLinks.isEmpty || hasReplaced else { return }
        let replacedEnds = replacedEndsWithPending()
        let requested = requestedReferences(replacedEnds)
        var changes = PendingReferenceChanges()
        let isStored = try resolve(pending, requested, replacedEnds, &changes)
        for (index, new) in requested.references.enumerated() where !isStored[index] {
            try progress.advance()
            insertPending(new, &changes)
            addUnresolved(new)
        }
        if !changes.deleted.isEmpty { try store.deletePendingReferences(changes.deleted) }
        if !changes.inserted.isEmpty { try store.insertPendingReferences(changes.inserted) }
        if pagedImport?.resolvedReferences.isEmpty == false {
            let toOne = requested.references.filter { $0.position < 0 }.map(\.reference)
            try loadResolvedLinks(of: toOne)
            for reference in toOne { try revertResolvedLink(reference) }
        }
        try writeLinks()
        // A surrogate key identifies its row in the store only, so the result has the key of the row.
        let owners = requested.references.map(\.reference.owner)
        try identities.load(owners.filter { tables[$0.table].hasSurrogateKey })
        pendingReferences = try requested.references.map { try named($0.reference) }
    }

    private func named(_ reference: PendingReference) throws -> SyncResult.Link {
        let owner = reference.owner
        let known = tables[owner.table].hasSurrogateKey ? try identities[owner]?.key : nil
        return .init(
            entity: model.entities[reference.ownerEntity].name,
            key: known ?? owner.key.recordKey(model.keyType(of: reference.ownerEntity)),
            relationship: reference.relationship,
            target: reference.target.recordKey(model.keyType(of: reference.targetEntity)))
    }

    // MARK: Stored pending references

    /// Resolves, keeps or deletes the stored pending references.
    ///
    /// - Returns: For each requested reference, whether it is stored already.
    private mutating func resolve(
        _ pending: [PositionedReference], _ requested: RequestedReferences, _ replacedEnds: ReplacedEnds,
        _ changes: inout PendingReferenceChanges
    ) throws -> [Bool] {
        var isStored = Array(repeating: false, count: requested.references.count)
        var replaced = earlierReplacedReferences()
        var references = pending.map(\.reference)
        references += replaced.entries.map(\.reference)
        guard !references.isEmpty || !requested.replaced.isEmpty else { return isStored }
        let arrived = try ArrivedTargets(references, store, model)
        try load(references, arrived)
        var linked: Set<PagedImportState.ToOneLink> = []
        var listed = ListedOwners()
        for stored in pending {
            let reference = stored.reference
            if let index = requested.index(of: reference) {
                isStored[index] = true
                addUnresolved(stored)
                if requested.references[index].position != stored.position {
                    releasePosition(stored)
                    insertPending(requested.references[index], &changes)
                }
            } else if isOwnerReplaced(reference, replacedEnds) {
                addReplaced(reference, to: &replaced)
                deletePending(stored, &changes)
            } else if isTargetReplaced(reference, arrived[reference], replacedEnds, &replaced) {
                if let target = arrived[reference] {
                    addDecided(reference, to: &replaced)
                    try moveToReservedPosition(preservedPosition(stored, &listed), of: target, reference)
                    try unlinkIfPending(reference, arrived)
                } else {
                    addReplaced(reference, to: &replaced)
                }
                deletePending(stored, &changes)
            } else if let target = try arrivedRow(reference, arrived) {
                addDecided(reference, to: &replaced)
                if try !hasOwnLink(target, reference, linked) {
                    try link(reference, to: target, at: preservedPosition(stored, &listed))
                    if let made = targetLink(target, reference) { linked.insert(made) }
                }
                deletePending(stored, &changes)
            }
        }
        try resolve(&replaced, requested, arrived, &linked)
        return isStored
    }

    /// Loads the rows, links and positions that are needed to link rows that have arrived.
    private func load(_ references: [PendingReference], _ arrived: ArrivedTargets) throws {
        try identities.load(references.lazy.map(\.owner))
        try identities.load(arrived.all)
        var keys: [AssociationID: [JoinKey]] = [:]
        var owners: [AssociationID: PerEnd<[RowKey]>] = [:]
        for reference in references {
            guard let relationship = relationship(of: reference) else { continue }
            owners[relationship.link, default: PerEnd([], [])][relationship.end].append(reference.owner.key)
            guard let target = arrived[reference] else { continue }
            let key = TrackedLinks.key(reference.owner.key, target.key, relationship.end)
            keys[relationship.link, default: []].append(key)
            if model[relationship.link].isSymmetric {
                keys[relationship.link]?.append(JoinKey(first: key.second, second: key.first))
            }
        }
        for (link, owners) in owners {
            for end in [CompiledAssociation.End.first, .second] {
                try links.loadReservedPositions(in: owners[end], link, end)
            }
        }
        for (id, keys) in keys {
            let link = model[id]
            for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) || readsAllLinks(link, end)
            {
                try links.load(keys.lazy.map { $0.row(end) }, id, from: end)
                try links.loadReservedPositions(in: keys.lazy.map { $0.row(end) }, id, end)
            }
            if link.storage == .joinTable { try links.load(keys, id) }
        }
    }

    /// Returns whether all links of rows at an end must be loaded, because a new link replaces an existing one.
    private func readsAllLinks(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> Bool {
        link.storage == .foreignKey && (end == .first || link.isOneToOne)
    }

    // MARK: Positions

    /// The nodes whose ordered list the payload gives, for each end that was queried.
    private struct ListedOwners {
        struct End: Hashable {
            var link: AssociationID
            var end: CompiledAssociation.End
        }
        var owners: [End: Set<NodeID>] = [:]
    }

    /// Returns the position that was reserved for a row that has arrived. Returns -1 if there is none, or if the
    /// payload has a list of the owner: that list decides the order.
    private func preservedPosition(_ stored: PositionedReference, _ listed: inout ListedOwners) -> Int64 {
        guard stored.position >= 0, let relationship = relationship(of: stored.reference), relationship.isOrdered,
            let owner = tables.node(of: stored.reference.owner)
        else { return stored.position }
        let end = ListedOwners.End(link: relationship.link, end: relationship.end)
        let owners = listed.owners[end] ?? listedOwners(end)
        listed.owners[end] = owners
        return owners.contains(owner) ? -1 : stored.position
    }

    private func listedOwners(_ end: ListedOwners.End) -> Set<NodeID> {
        let listed = statements(of: end.link).stated.filter { $0.assertedBy == end.end && $0.position >= 0 }
        return Set(listed.map { $0.ends(from: end.end).owner })
    }

    /// Moves a row that has arrived to its reserved position in a list, if it is linked to the owner of the list.
    private func moveToReservedPosition(_ position: Int64, of target: StoredRow, _ reference: PendingReference) throws {
        guard position >= 0, let relationship = relationship(of: reference), relationship.isOrdered else { return }
        try links.moveToPosition(position, of: target.key, in: reference.owner.key, relationship.link, relationship.end)
    }

    // MARK: Changes of pending references

    private func insertPending(_ new: PositionedReference, _ changes: inout PendingReferenceChanges) {
        changes.inserted.append(new)
        guard let relationship = relationship(of: new.reference) else { return }
        links.reservePosition(new.position, in: new.reference.owner.key, relationship.link, relationship.end)
    }

    private mutating func deletePending(_ stored: PositionedReference, _ changes: inout PendingReferenceChanges) {
        removeUnresolved(stored.reference)
        changes.deleted.append(stored.reference)
        releasePosition(stored)
    }

    /// Releases the position that was reserved for a pending reference.
    private func releasePosition(_ stored: PositionedReference) {
        guard let relationship = relationship(of: stored.reference) else { return }
        links.releasePosition(stored.position, in: stored.reference.owner.key, relationship.link, relationship.end)
    }
}

// MARK: - Requested references

// Collects the pending references of the payload, and decides which stored pending references the payload replaces.
extension SyncTransaction {
    /// Returns when the links of each node were last replaced, at each end of each association. References to missing
    /// rows and the scope of a parent also replace links.
    func replacedEndsWithPending() -> ReplacedEnds {
        var replacedEnds = ReplacedEnds(model.links.map { statements(of: $0.id).replacedEnds(countsPending: true) })
        guard let parent = graph.parent, deletesMissing, predicate == nil,
            !graph.roots.contains(where: hasUnreadableKeys)
        else {
            return replacedEnds
        }
        if replacedEnds[parent.link, parent.end].isEmpty {
            replacedEnds[parent.link, parent.end] = ReplacedEnd(count: tables[parent.table].batch.nodes.count)
        }
        replacedEnds[parent.link, parent.end].record(parent.node, 0, deletes: false)
        return replacedEnds
    }

    func requestedReferences(_ replacedEnds: ReplacedEnds) -> RequestedReferences {
        var requested = RequestedReferences(capacity: unresolvedLinks.count)
        for (id, assertions) in unresolvedLinks.all {
            for assertion in assertions {
                if let reference = requestedReference(assertion, model[id], replacedEnds) {
                    requested.add(reference, at: Int64(assertion.position))
                } else if pagedImport != nil, assertion.position < 0 {
                    requested.replaced.append((id, assertion))
                }
            }
        }
        return requested
    }

    /// Returns the pending reference of an assertion; nil if a later statement replaces the links at one of its ends.
    private func requestedReference(
        _ assertion: LinkBatch.Assertion, _ link: CompiledAssociation, _ replacedEnds: ReplacedEnds
    ) -> PendingReference? {
        let (end, sequence) = (assertion.assertedBy, Int64(assertion.sequence))
        let (owner, target) = assertion.ends(from: end)
        guard sequence >= replacedEnds[link.id, end].sequence(of: owner),
            sequence >= replacedEnds[link.id, end.other].sequence(of: target)
        else { return nil }
        return pendingReference(assertion, link)
    }

    /// Returns an assertion as a pending reference; nil if the row with the reference is not stored.
    func pendingReference(_ assertion: LinkBatch.Assertion, _ link: CompiledAssociation) -> PendingReference? {
        let end = assertion.assertedBy
        let (owner, target) = assertion.ends(from: end)
        let table = tables[link.side(end).table]
        guard table.isPresent(owner), let relationship = link.side(end).relationship, let row = table.row(owner),
            let key = RowKey(tables[link.side(end.other).table].batch.nodes[target.index].key, pool)
        else { return nil }
        return PendingReference(
            owner: row, ownerEntity: table.entity(of: owner), relationship: relationship.name,
            targetEntity: assertion.kind(at: end.other) ?? link.side(end.other).entity, target: key)
    }

    func isOwnerReplaced(_ reference: PendingReference, _ replacedEnds: ReplacedEnds) -> Bool {
        guard let relationship = relationship(of: reference) else { return true }
        guard let owner = tables.node(of: reference.owner) else { return false }
        return replacedEnds[relationship.link, relationship.end].isReplaced(owner)
    }

    func isTargetReplaced(_ reference: PendingReference, _ target: StoredRow?, _ replacedEnds: ReplacedEnds) -> Bool {
        let table = tables[model.entities[reference.targetEntity].table]
        let node = table.hasSurrogateKey ? target.flatMap { tables.node(of: $0) } : table.node(of: reference.target)
        guard let relationship = relationship(of: reference), let node,
            model.entity(table.entity(of: node), isKindOf: reference.targetEntity)
        else { return false }
        return replacedEnds[relationship.link, relationship.end.other].isReplaced(node)
    }

    func relationship(of reference: PendingReference) -> CompiledRelationship? {
        model.entities[reference.ownerEntity].relationship(named: reference.relationship)
    }
}

// MARK: - RequestedReferences

/// The pending references of a payload that no later assertion replaces. Each is contained once. Its position is the
/// index in the list that contains it, or -1 for a to-one relationship.
struct RequestedReferences {
    private(set) var references: [PositionedReference] = []
    /// The to-one references of a page that later assertions replaced.
    var replaced: [(link: AssociationID, assertion: LinkBatch.Assertion)] = []
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

/// The last replacement of the links of each node, at each end of each association.
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
    var inserted: [PositionedReference] = []
    var deleted: [PendingReference] = []
}
