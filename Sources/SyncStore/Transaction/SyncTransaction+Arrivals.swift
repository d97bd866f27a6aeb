import SyncCore

// Rows that have arrived are linked to those that waited for them.
extension SyncTransaction {
    /// The target, if it and the owner are stored by now.
    func arrivedRow(_ reference: LateReference, _ arrived: ArrivedRows) throws -> StoredRow? {
        guard try identities[reference.owner] != nil, let relationship = relationship(of: reference),
            let target = arrived[reference], let found = try identities[target],
            model.entity(found.entity, isKindOf: relationship.destination),
            model.entity(found.entity, isKindOf: reference.targetEntity)
        else { return nil }
        return target
    }

    /// Whether a row that came by other means than a sync brought a link of its own, which counts as what it says.
    func hasOwnLink(
        _ target: StoredRow, _ reference: LateReference, _ linked: Set<StoredRow>
    ) throws -> Bool {
        guard let relationship = relationship(of: reference), !linked.contains(target),
            !model[relationship.link].side(relationship.end.other).isToMany
        else { return false }
        return try !links.targets(of: target.key, relationship.link, from: relationship.end.other).isEmpty
    }

    mutating func link(_ reference: LateReference, to target: StoredRow, at place: Int64) throws {
        guard let relationship = relationship(of: reference) else { return }
        let link = model[relationship.link]
        let (first, second) = relationship.end == .first ? (reference.owner, target) : (target, reference.owner)
        try noteLateLink(reference, link, first, second)
        try self.link(link, first, second)
        if link.isSymmetric, first != second { try self.link(link, second, first) }
        try links.takePlace(place, of: target.key, in: reference.owner.key, link.id, relationship.end)
    }

    private mutating func link(_ link: Link, _ first: StoredRow, _ second: StoredRow) throws {
        if link.storage == .foreignKey { return try setTarget(link, first, second) }
        let isNew = try links.add(LinkedRows(first: first.key, second: second.key), link.id)
        if isNew { try bookAdded(link, first, second) }
    }

    /// Points the foreign key of a stored row at another, as the last of those that do.
    mutating func setTarget(_ link: Link, _ first: StoredRow, _ second: StoredRow) throws {
        if link.isOneToOne {
            for holder in try links.targets(of: second.key, link.id, from: .second) where holder != first.key {
                try bookRemoved(link, of: second, at: .second, to: holder)
                try clearForeignKey(of: StoredRow(table: first.table, key: holder), link)
            }
        }
        let current = try links.target(of: first.key, link.id)
        guard current != second.key else { return }
        if let current { try bookRemoved(link, of: first, at: .first, to: current) }
        try links.setTarget(second.key, of: first.key, link.id)
        // It is not its former owner's any more, whose list had left it out.
        try unlink(first, leaving.keep(link.id, of: first))
        try bookAdded(link, first, second)
        if let found = try identities[first] {
            noteUpdate(found, first, [link.first.relationship?.name].compactMap { $0 })
        }
    }
}
