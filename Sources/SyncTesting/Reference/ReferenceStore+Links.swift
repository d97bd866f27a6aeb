import SyncCore

extension ReferenceStore {
    func side(_ row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> ReferenceSide {
        ReferenceSide(row: row, link: relationship.link, end: relationship.end)
    }

    /// The rows a relationship leads to, in order.
    func targets(of row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> [ReferenceRow.ID] {
        targets[side(row, relationship)] ?? []
    }

    func link(_ relationship: CompiledRelationship) -> Link { model.compiled[relationship.link] }

    /// The end of the rows a relationship leads to.
    func farEnd(_ relationship: CompiledRelationship) -> Link.End {
        link(relationship).isSymmetric ? relationship.end : relationship.end.other
    }

    /// Whether a row that the relationship leads to has no other owner in it.
    func hasOneOwner(_ relationship: CompiledRelationship) -> Bool {
        let link = link(relationship)
        return !link.side(link.isSymmetric ? relationship.end : relationship.end.other).isToMany
    }

    /// Links two rows; a side that can have only one link gives up the one it has.
    mutating func link(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, _ target: ReferenceRow.ID) {
        let here = side(owner, relationship)
        let there = ReferenceSide(row: target, link: relationship.link, end: farEnd(relationship))
        guard targets[here]?.contains(target) != true else { return }
        if !relationship.isToMany, let old = targets[here]?.first { unlink(owner, relationship, old) }
        if hasOneOwner(relationship), let old = targets[there]?.first { unlink(old, relationship, target) }
        // A row that comes back from the other side is no longer where a list put it; one that the list waits for is.
        listed[there]?.removeAll { $0 == .row(owner) }
        targets[here, default: []].append(target)
        if here != there { targets[there, default: []].append(owner) }
        takePlace(target, at: here)
        takePlace(owner, at: there)
    }

    /// Puts a row that has arrived where a list waits for it.
    private mutating func takePlace(_ id: ReferenceRow.ID, at side: ReferenceSide) {
        guard let row = rows[id], let key = key(of: row),
            let index = listed[side]?.firstIndex(where: { place in
                guard case .awaited(let target) = place else { return false }
                return target.key == key && isKind(id, of: target.kind)
            })
        else { return }
        listed[side]?[index] = .row(id)
        sort(side)
    }

    /// A row keeps the links that it is told apart by.
    mutating func unlink(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, _ target: ReferenceRow.ID) {
        if link(relationship).isKeyPart { return }
        targets[side(owner, relationship)]?.removeAll { $0 == target }
        targets[ReferenceSide(row: target, link: relationship.link, end: farEnd(relationship))]?
            .removeAll { $0 == owner }
    }

    /// Whether a row is linked, at its end of a link, to another row than this one.
    func isOwned(_ row: ReferenceRow.ID, byOtherThan owner: ReferenceRow.ID, _ link: LinkID, _ end: Link.End) -> Bool {
        targets[ReferenceSide(row: row, link: link, end: end)]?.contains { $0 != owner } ?? false
    }

    /// The rows whose order the last list says.
    func orderedTargets(of row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> [ReferenceRow.ID] {
        let present = targets(of: row, relationship)
        return listedRows(side(row, relationship)).filter(present.contains)
    }

    private func listedRows(_ side: ReferenceSide) -> [ReferenceRow.ID] {
        (listed[side] ?? []).compactMap {
            guard case .row(let id) = $0 else { return nil }
            return id
        }
    }

    /// Puts the listed targets first, in the order of the list.
    mutating func order(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, as list: [ReferenceListed]) {
        let side = side(owner, relationship)
        let earlier = listed[side]
        listed[side] = list
        sort(side)
        if !relationship.isOrdered { listed[side] = earlier }
    }

    private mutating func sort(_ side: ReferenceSide) {
        let present = targets[side] ?? []
        let first = listedRows(side).filter(present.contains)
        targets[side] = first + present.filter { !first.contains($0) }
    }

    /// Takes a row and everything that is said of it away.
    mutating func remove(_ id: ReferenceRow.ID) {
        rows[id] = nil
        pending.removeAll { $0.side.row == id }
        listed = listed.filter { $0.key.row != id }
        targets = targets.filter { $0.key.row != id }.mapValues { $0.filter { $0 != id } }
    }
}
