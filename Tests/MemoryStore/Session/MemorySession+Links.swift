package import SyncCore
package import SyncStore

extension MemorySession {
    package func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) throws
        -> [StoredLink]
    {
        let lists = contents.lists(link, end)
        return rows.flatMap { lists[$0] ?? [] }
    }

    package func stored(_ joinRows: [JoinKey], _ link: CompiledAssociation) throws -> Set<JoinKey> {
        Set(joinRows.filter { contents.contains($0, link) })
    }

    // MARK: Positions

    package func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [Int64]
    {
        guard link.hasPositions(end) else { return owners.map { _ in 0 } }
        let (taken, reserved) = (contents.positions(link, end), contents.reservedPositions(link, end))
        return owners.map { owner in
            ((taken[owner] ?? []) + (reserved[owner] ?? [])).max().map { max($0 + 1, 0) } ?? 0
        }
    }

    package func reservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End)
        throws -> [[Int64]]
    {
        let reserved = contents.reservedPositions(link, end)
        return owners.map { reserved[$0] ?? [] }
    }

    package func setPositions(
        _ positions: [(key: JoinKey, position: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) throws {
        for (key, position) in positions { contents.setPosition(position, of: key, link, end) }
    }

    // MARK: Writing

    package func setForeignKeys(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) throws {
        for change in changes { contents.setTarget(change.target, at: change.position, of: change.row, link) }
    }

    package func insert(_ joinRows: [NodeLink], _ positions: [LinkPositions], _ link: CompiledAssociation) throws {
        guard let tables else { return }
        for (index, nodes) in joinRows.enumerated() {
            guard let first = tables[link.first.table].rowKey(nodes.first),
                let second = tables[link.second.table].rowKey(nodes.second)
            else { continue }
            var stored = positions.isEmpty ? LinkPositions() : positions[index]
            for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
                stored[end] = stored[end] ?? 0
            }
            try contents.insert(JoinKey(first: first, second: second), stored, link)
        }
        try advance(by: joinRows.count)
    }

    package func insert(_ joinRows: [JoinRow], _ link: CompiledAssociation) throws {
        for row in joinRows { try contents.insert(row.rows, row.positions, link) }
    }

    package func remove(_ joinRows: [JoinKey], _ link: CompiledAssociation) throws {
        for row in joinRows { contents.remove(row, link) }
    }

    // MARK: Comparing

    package func diff(_ asserted: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) throws
        -> JoinTableDiff
    {
        guard let tables else { return JoinTableDiff() }
        let (firsts, seconds) = (tables[link.first.table], tables[link.second.table])
        var difference = JoinTableDiff()
        for (key, positions) in contents.links(link).sorted(by: { $0.key.isBefore($1.key) }) {
            let (first, second) = (firsts.node(of: key.first), seconds.node(of: key.second))
            if let index = asserted.index(of: first, second) {
                asserted.rows[index].isStored = true
                let moved = JoinTableDiff.Moved(asserted.rows[index], of: link, index: index, stored: positions) { key }
                if let moved { difference.moved.append(moved) }
            } else if !asserted.preserves(first, second) {
                difference.removed.append(.init(rows: key, first: first, second: second))
            }
        }
        try advance(by: asserted.rows.count)
        return difference
    }

    // MARK: Dangling links

    package func danglingLinks() throws -> [DanglingJoinRows] {
        model.links.compactMap { link in
            let found = contents.danglingLinks(link)
            return found.isEmpty ? nil : DanglingJoinRows(link.id, found.map { ($0.first, $0.second) })
        }
    }

    /// Returns none, because ``danglingLinks()`` has found all.
    package func danglingJoinRows() throws -> [DanglingJoinRows] { [] }

    package func removeDangling(_ links: [AssociationID]) throws {
        for link in links.map({ model[$0] }) {
            for key in contents.danglingLinks(link) { contents.remove(key, link) }
        }
    }
}
