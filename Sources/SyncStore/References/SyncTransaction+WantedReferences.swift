import SyncCore

// Which references the payload makes, and of which remembered ones it says something else.
extension SyncTransaction {
    /// When each end was last spoken for in words, by link and end: by the scope of a parent, too.
    func claimedEnds() -> ClaimedEnds {
        var claimed = ClaimedEnds(model.links.map { statements(of: $0.id).claimedEnds() })
        guard let parent = plan.parent, deletesMissing, predicate == nil, !plan.roots.contains(where: isUnread) else {
            return claimed
        }
        if claimed[parent.link, parent.end].isEmpty {
            claimed[parent.link, parent.end] = SpokenEnd(count: tables[parent.table].batch.nodes.count)
        }
        claimed[parent.link, parent.end].note(parent.node, 0, deletes: false)
        return claimed
    }

    func wantedReferences(_ claimed: ClaimedEnds) -> WantedReferences {
        var wanted = WantedReferences(capacity: awaited.count)
        for (id, assertions) in awaited.all {
            for assertion in assertions {
                guard let reference = wantedReference(assertion, model[id], claimed) else { continue }
                wanted.add(reference, at: Int64(assertion.position))
            }
        }
        return wanted
    }

    func wantedReference(
        _ assertion: LinkBatch.Assertion, _ link: Link, _ claimed: ClaimedEnds
    ) -> LateReference? {
        let end = assertion.saidBy
        let (owner, target) = assertion.ends(from: end)
        let table = tables[link.side(end).table]
        guard table.isPresent(owner), let relationship = link.side(end).relationship,
            Int64(assertion.sequence) >= claimed[link.id, end].sequence(of: owner),
            Int64(assertion.sequence) >= claimed[link.id, end.other].sequence(of: target),
            let row = table.row(owner),
            let key = RowKey(tables[link.side(end.other).table].batch.nodes[target.index].key, pool)
        else { return nil }
        return LateReference(
            owner: row, ownerEntity: table.entity(of: owner), relationship: relationship.name,
            targetEntity: assertion.kind(at: end.other) ?? link.side(end.other).entity, target: key)
    }

    func isOwnerSpokenFor(_ reference: LateReference, _ claimed: ClaimedEnds) -> Bool {
        guard let relationship = relationship(of: reference) else { return true }
        guard let owner = tables.node(of: reference.owner) else { return false }
        return claimed[relationship.link, relationship.end].speaks(of: owner)
    }

    func isTargetSpokenFor(_ reference: LateReference, _ target: StoredRow?, _ claimed: ClaimedEnds) -> Bool {
        let table = tables[model.entities[reference.targetEntity].table]
        let node = table.hasHiddenKey ? target.flatMap { tables.node(of: $0) } : table.node(of: reference.target)
        guard let relationship = relationship(of: reference), let node,
            model.entity(table.entity(of: node), isKindOf: reference.targetEntity)
        else { return false }
        return claimed[relationship.link, relationship.end.other].speaks(of: node)
    }

    func relationship(of reference: LateReference) -> CompiledRelationship? {
        model.entities[reference.ownerEntity].relationship(named: reference.relationship)
    }
}
