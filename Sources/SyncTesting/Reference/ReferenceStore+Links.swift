import SyncCore

extension ReferenceStore {
    func place(_ row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> ReferencePlace {
        ReferencePlace(row: row, link: relationship.link, end: relationship.end)
    }

    /// The rows a relationship leads to, in order.
    func targets(of row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> [ReferenceRow.ID] {
        targets[place(row, relationship)] ?? []
    }

    func link(_ relationship: CompiledRelationship) -> Link { model.compiled.links[relationship.link] }

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
        let here = place(owner, relationship)
        let there = ReferencePlace(row: target, link: relationship.link, end: farEnd(relationship))
        guard targets[here]?.contains(target) != true else { return }
        if !relationship.isToMany, let old = targets[here]?.first { unlink(owner, relationship, old) }
        if hasOneOwner(relationship), let old = targets[there]?.first { unlink(old, relationship, target) }
        // A row that comes back from the other side is no longer where a list put it.
        if listed[there]?.contains(owner) == true { listed[there] = nil }
        targets[here, default: []].append(target)
        if here != there { targets[there, default: []].append(owner) }
    }

    mutating func unlink(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, _ target: ReferenceRow.ID) {
        targets[place(owner, relationship)]?.removeAll { $0 == target }
        targets[ReferencePlace(row: target, link: relationship.link, end: farEnd(relationship))]?
            .removeAll { $0 == owner }
    }

    /// The rows whose order the last list says.
    func orderedTargets(of row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> [ReferenceRow.ID] {
        let present = targets(of: row, relationship)
        return (listed[place(row, relationship)] ?? []).filter(present.contains)
    }

    /// Puts the listed targets first, in the order of the list.
    mutating func order(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, as list: [ReferenceRow.ID]) {
        if relationship.isOrdered { self.listed[place(owner, relationship)] = list }
        let present = targets(of: owner, relationship)
        let listed = list.filter(present.contains)
        targets[place(owner, relationship)] = listed + present.filter { !listed.contains($0) }
    }

    /// Takes a row and everything that is said of it away.
    mutating func remove(_ id: ReferenceRow.ID) {
        rows[id] = nil
        pending.removeAll { $0.place.row == id }
        listed = listed.filter { $0.key.row != id }
        targets = targets.filter { $0.key.row != id }.mapValues { $0.filter { $0 != id } }
    }
}
