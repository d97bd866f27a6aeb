import GRDB
import SyncCore

// Pages end where one payload would. There an id is of a row that comes later in the payload as well as of one that came
// before, and what a row says of its link is known before any reference of earlier syncs is looked at.
extension SyncTransaction {
    /// The link that a reference speaks for as a whole, if it is of a to-one relationship.
    func oneLink(of reference: PendingReferences.Reference) -> RunMemory.OneLink? {
        guard run != nil, let relationship = relationship(of: reference), !relationship.isToMany else { return nil }
        return .init(row: reference.owner, link: relationship.link, end: relationship.end)
    }

    /// A page says of a link that it leads to a row which is not there yet.
    mutating func noteAwaited(_ reference: PendingReferences.Reference, at position: Int64) {
        if position < 0, let link = oneLink(of: reference) { run?.awaited.insert(link) }
    }

    /// The awaited row is there and has said that it is another's. It was the owner's until then, so that the owner lost
    /// the link it had before, and has none.
    mutating func unlinkIfAwaited(_ reference: PendingReferences.Reference) throws {
        guard let one = oneLink(of: reference), run?.awaited.contains(one) == true else { return }
        let target = try arrivedRow(reference)?.key
        for other in try storedLinks.targets(of: one.row, one.link, from: one.end) where other != target {
            let otherRow = StoredRow(tree: model.links[one.link].side(one.end.other).tree, key: other)
            try unlink(one.end == .first ? one.row : otherRow, [one.link])
            if model.links[one.link].isSymmetric { try unlink(otherRow, [one.link]) }
        }
    }

    /// Keeps what a foreign key was before a reference that is older than the run set it.
    mutating func noteLateLink(
        _ reference: PendingReferences.Reference, _ link: Int, _ first: StoredRow, _ second: StoredRow
    ) throws {
        guard run != nil, model.links[link].storage == .foreignKey, !model.links[link].isSymmetric,
            oneLink(of: reference).map({ run?.awaited.contains($0) == true }) != true
        else { return }
        let before = try storedLinks.target(of: first, link)
        run?.late[.init(row: first, link: link, end: .first)] = .init(target: second.key, before: before)
    }

    /// A page says of a link that it leads to a row which is not there yet, and so not where an earlier page let it lead
    /// for what had been remembered before the run.
    mutating func takeBackLateLink(_ reference: PendingReferences.Reference) throws {
        guard let one = oneLink(of: reference) else { return }
        let holders = one.end == .first ? [one.row.key] : try storedLinks.targets(of: one.row, one.link, from: .second)
        for holder in holders {
            let first = StoredRow(tree: model.links[one.link].first.tree, key: holder)
            guard let late = run?.late.removeValue(forKey: .init(row: first, link: one.link, end: .first)),
                try storedLinks.target(of: first, one.link) == late.target
            else { continue }
            if let before = late.before {
                try setTarget(one.link, first, StoredRow(tree: model.links[one.link].second.tree, key: before))
            } else {
                try unlink(first, [one.link])
            }
        }
    }
}
