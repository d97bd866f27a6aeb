import SyncCore

// Every change of a link is booked here, and nowhere else: that there was one, and for callers who ask for values which.
extension SyncTransaction {
    /// Books a link between two stored rows that is added.
    mutating func bookAdded(_ link: Link, _ first: StoredRow, _ second: StoredRow) throws {
        report.countLinks(added: 1)
        guard let history else { return }
        history.noteAdded(
            named(link, try identities.end(first, link, .first), try identities.end(second, link, .second)))
    }

    /// Books a link that is removed, between a row at one end and the one with a key at the other.
    mutating func bookRemoved(_ link: Link, of row: StoredRow, at end: Link.End, to key: RowKey) throws {
        report.countLinks(removed: 1)
        guard let history else { return }
        let other = StoredRow(table: link.side(end.other).table, key: key)
        let (first, second) = end == .first ? (row, other) : (other, row)
        history.noteRemoved(
            named(link, try identities.end(first, link, .first), try identities.end(second, link, .second)))
    }

    /// Books that a stored row is about to lose what its foreign key leads to.
    mutating func bookRemovedTarget(_ link: Link, of row: StoredRow) throws {
        guard history != nil, let key = try links.target(of: row.key, link.id) else {
            return report.countLinks(removed: 1)
        }
        try bookRemoved(link, of: row, at: .first, to: key)
    }

    /// Books what the foreign key of a node led to, and what it will lead to.
    mutating func bookTarget(
        of node: NodeID, _ table: SyncTable, _ link: Link, before: LinkTarget, after: LinkTarget
    ) throws {
        if after != .nowhere { bookAdded(link, node, after.node) }
        guard before != .nowhere else { return }
        guard history != nil, let row = table.row(node) else { return report.countLinks(removed: 1) }
        try bookRemovedTarget(link, of: row)
    }

    /// Books the changes of a join table.
    mutating func book(_ changes: PairChanges) throws {
        guard history != nil else {
            return report.countLinks(added: changes.added.count, removed: changes.removed.count)
        }
        let link = changes.link
        for pair in changes.added { bookAdded(link, pair.first, pair.second) }
        try identities.load(changes.removed.lazy.map { StoredRow(table: link.first.table, key: $0.first) })
        try identities.load(changes.removed.lazy.map { StoredRow(table: link.second.table, key: $0.second) })
        for pair in changes.removed {
            try bookRemoved(link, of: StoredRow(table: link.first.table, key: pair.first), at: .first, to: pair.second)
        }
    }

    private mutating func bookAdded(_ link: Link, _ first: NodeID, _ second: NodeID?) {
        report.countLinks(added: 1)
        guard let history, let second else { return }
        history.noteAdded(
            named(
                link, tables[link.first.table].identity(of: first), tables[link.second.table].identity(of: second)))
    }

    /// Reads what booking the foreign keys of nodes takes.
    func loadEnds(of nodes: [NodeID], _ link: Link, _ table: SyncTable) throws {
        guard history != nil else { return }
        let rows = nodes.lazy.filter { table.isPresent($0, as: .stored) }.compactMap(table.row)
        try links.load(rows.map(\.key), link.id, from: .first)
        try identities.load(rows)
        try identities.load(
            rows.map { try links.targets(of: $0.key, link.id, from: .first) }.joined()
                .map { StoredRow(table: link.second.table, key: $0) })
    }

    // MARK: As a result names them

    private func named(
        _ link: Link, _ first: ChangeReport.Identity, _ second: ChangeReport.Identity
    ) -> SyncResult.Link {
        var end = reportedEnd(of: link)
        if link.side(end).relationship == nil { end = end.other }
        let (owner, target) = end == .first ? (first, second) : (second, first)
        return SyncResult.Link(
            entity: model.entities[owner.entity].name, key: owner.key,
            relationship: link.side(end).relationship?.name ?? "", target: target.key)
    }

    /// The to-one end; of two that are to-many the one that the payload speaks of, as a reader of it expects.
    private func reportedEnd(of link: Link) -> Link.End {
        if link.storage == .foreignKey { return .first }
        if let said = plan[link.id].assertions.last?.saidBy ?? plan[link.id].replacements.last?.end { return said }
        return link.second.table == rootEntity.table ? .second : .first
    }
}
