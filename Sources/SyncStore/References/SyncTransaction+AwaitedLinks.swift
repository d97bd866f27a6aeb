import SyncCore

// Pages end where one payload would. There an id is of a row that comes later in the payload as well as of one that came
// before, and what a row says of its link is known before any reference of earlier syncs is looked at.
extension SyncTransaction {
    /// The link that a reference speaks for as a whole, if it is of a to-one relationship.
    func oneLink(of reference: LateReference) -> RunMemory.OneLink? {
        guard run != nil, let relationship = relationship(of: reference), !relationship.isToMany else { return nil }
        return .init(row: reference.owner, link: relationship.link, end: relationship.end)
    }

    /// A page says of a link that it leads to a row which is not there yet.
    mutating func noteAwaited(_ reference: RememberedReference) {
        if reference.position < 0, let link = oneLink(of: reference.reference) { run?.awaited.insert(link) }
    }

    /// The awaited row is there and has said that it is another's. It was the owner's until then, so that the owner lost
    /// the link it had before, and has none.
    mutating func unlinkIfAwaited(_ reference: LateReference, _ arrived: ArrivedRows) throws {
        guard let one = oneLink(of: reference), run?.awaited.contains(one) == true else { return }
        let target = try arrivedRow(reference, arrived)?.key
        let link = model[one.link]
        for other in try links.targets(of: one.row.key, one.link, from: one.end) where other != target {
            let otherRow = StoredRow(table: link.side(one.end.other).table, key: other)
            try unlink(one.end == .first ? one.row : otherRow, [one.link])
            if link.isSymmetric { try unlink(otherRow, [one.link]) }
        }
    }

    /// Keeps what a foreign key was before a reference that is older than the run set it.
    mutating func noteLateLink(
        _ reference: LateReference, _ link: Link, _ first: StoredRow, _ second: StoredRow
    ) throws {
        guard run != nil, link.storage == .foreignKey, !link.isSymmetric,
            oneLink(of: reference).map({ run?.awaited.contains($0) == true }) != true
        else { return }
        let before = try links.target(of: first.key, link.id)
        run?.late[.init(row: first, link: link.id, end: .first)] = .init(target: second.key, before: before)
    }

    /// A page says of a link that it leads to a row which is not there yet, and so not where an earlier page let it lead
    /// for what had been remembered before the run.
    mutating func takeBackLateLink(_ reference: LateReference) throws {
        guard let one = oneLink(of: reference) else { return }
        let link = model[one.link]
        let holders =
            one.end == .first ? [one.row.key] : try links.targets(of: one.row.key, one.link, from: .second)
        for holder in holders {
            let first = StoredRow(table: link.first.table, key: holder)
            guard let late = run?.late.removeValue(forKey: .init(row: first, link: one.link, end: .first)),
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
