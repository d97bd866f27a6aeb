package import SyncCore
package import SyncStore

// Links as the lists of rows, and the free positions in these lists.
extension MemoryContents {
    /// Returns the links from each row at an end of an association to stored rows, in the order of its list.
    package func lists(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> [RowKey: [StoredLink]] {
        let others = rows(of: link.side(end.other).table)
        var lists: [RowKey: [StoredLink]] = [:]
        for (key, positions) in links(link) where others[key.row(end.other)] != nil {
            lists[key.row(end), default: []].append(
                StoredLink(
                    row: key.row(end), other: key.row(end.other), position: positions[end],
                    otherPosition: positions[end.other]))
        }
        return lists.mapValues { links in links.sorted { $0.isBefore($1) } }
    }

    /// Returns the positions in the list of each row at an end, also those of links to missing rows.
    func positions(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> [RowKey: [Int64]] {
        var found: [RowKey: [Int64]] = [:]
        for (key, positions) in links(link) {
            if let position = positions[end] { found[key.row(end), default: []].append(position) }
        }
        return found
    }

    /// Returns the positions that the list of each row at an end reserves for pending references, in ascending order.
    func reservedPositions(_ link: CompiledAssociation, _ end: CompiledAssociation.End) -> [RowKey: [Int64]] {
        guard let relationship = link.side(end).relationship else { return [:] }
        var found: [RowKey: [Int64]] = [:]
        for (reference, position) in pendingReferences
        where reference.owner.table == link.side(end).table && reference.relationship == relationship.name {
            found[reference.owner.key, default: []].append(position)
        }
        return found.mapValues { $0.sorted() }
    }

    /// Returns the links of an association that reference missing rows.
    package func danglingLinks(_ link: CompiledAssociation) -> [JoinKey] {
        let (firsts, seconds) = (rows(of: link.first.table), rows(of: link.second.table))
        return links(link).keys.filter { firsts[$0.first] == nil || seconds[$0.second] == nil }
            .sorted { $0.isBefore($1) }
    }
}

extension StoredLink {
    /// Returns whether a link comes before another one in a list: by position, then by key. Links without a position
    /// come last.
    fileprivate func isBefore(_ link: StoredLink) -> Bool {
        let (left, right) = (position ?? .max, link.position ?? .max)
        return left != right ? left < right : other.isBefore(link.other)
    }
}

extension JoinKey {
    package func isBefore(_ other: JoinKey) -> Bool {
        first != other.first ? first.isBefore(other.first) : second.isBefore(other.second)
    }
}
