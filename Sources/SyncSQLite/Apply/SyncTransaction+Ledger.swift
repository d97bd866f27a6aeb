import GRDB
import SyncCore

// Every change of a link is booked here, and nowhere else: that there was one, and for callers who ask for values which.
extension SyncTransaction {
    /// Books a link between two nodes that is added.
    mutating func bookAdded(_ link: Int, _ first: Int32, _ second: Int32) {
        report.countLinks(added: 1)
        guard history != nil, first >= 0, second >= 0 else { return }
        let ends = (
            identity(of: Int(first), model.links[link].first.tree),
            identity(of: Int(second), model.links[link].second.tree)
        )
        history?.addedLinks.append(self.link(link, ends.0, ends.1))
    }

    /// Books a link between two stored rows that is added.
    mutating func bookAdded(_ link: Int, _ first: StoredRow, _ second: StoredRow) throws {
        report.countLinks(added: 1)
        guard history != nil else { return }
        let found = try self.link(link, end(first, link, .first), end(second, link, .second))
        history?.addedLinks.append(found)
    }

    /// Books a link that is removed, between a row at one end and the one with a key at the other.
    mutating func bookRemoved(_ link: Int, of row: StoredRow, at end: Link.End, to key: RowKey) throws {
        report.countLinks(removed: 1)
        guard history != nil else { return }
        let other = StoredRow(tree: model.links[link].side(end.other).tree, key: key)
        let (first, second) = end == .first ? (row, other) : (other, row)
        let found = try self.link(link, self.end(first, link, .first), self.end(second, link, .second))
        history?.removedLinks.append(found)
    }

    /// Books that a stored row is about to lose what its foreign key leads to.
    mutating func bookRemovedTarget(_ link: Int, of row: StoredRow) throws {
        guard history != nil, let key = try storedLinks.target(of: row, link) else {
            return report.countLinks(removed: 1)
        }
        try bookRemoved(link, of: row, at: .first, to: key)
    }

    /// Books what the foreign key of a node led to, and what it will lead to.
    mutating func bookTarget(of node: Int, _ tree: Int, _ link: Int, before: Int32, after: Int32) throws {
        if after != LinkTargets.none { bookAdded(link, Int32(truncatingIfNeeded: node), after) }
        guard before != LinkTargets.none else { return }
        guard let row = history == nil ? nil : storedRow(of: node, tree) else { return report.countLinks(removed: 1) }
        try bookRemovedTarget(link, of: row)
    }

    /// Books the changes of a join table.
    mutating func book(_ changes: JoinChanges, _ link: Link) throws {
        guard history != nil else {
            return report.countLinks(added: changes.added.count, removed: changes.removed.count)
        }
        for pair in changes.added { bookAdded(link.id, pair.first, pair.second) }
        for pair in changes.removed {
            try bookRemoved(
                link.id, of: StoredRow(tree: link.first.tree, key: pair.first), at: .first, to: pair.second)
        }
    }

    // MARK: As a result names them

    private func link(
        _ link: Int, _ first: ChangeReport.Identity, _ second: ChangeReport.Identity
    ) -> SyncResult.Link {
        var end = reportedEnd(of: model.links[link])
        if model.links[link].side(end).relationship == nil { end = end.other }
        let (owner, target) = end == .first ? (first, second) : (second, first)
        return SyncResult.Link(
            entity: model.entities[owner.entity].name, key: owner.key,
            relationship: model.links[link].side(end).relationship?.name ?? "", target: target.key)
    }

    /// The to-one end; of two that are to-many the one that the payload speaks of, as a reader of it expects.
    private func reportedEnd(of link: Link) -> Link.End {
        if link.storage == .foreignKey { return .first }
        if let said = plan.links[link.id].assertions.last?.saidBy ?? plan.links[link.id].replacements.last?.end {
            return said
        }
        return link.second.tree == model.entities[plan.entity].tree ? .second : .first
    }
}
