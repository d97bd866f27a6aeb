import GRDB
package import SyncCore
package import SyncStore

// Links as they are stored: a foreign key column, or join rows, each with columns for positions in ordered lists.
extension SQLiteSession {
    package func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) throws
        -> [StoredLink]
    {
        let statement = try statements.statement(LinkSQL(link, end, layout).links)
        var found: [StoredLink] = []
        for row in rows {
            statement.bind(row, at: 1)
            while try statement.step() {
                guard let other = statement.key(0) else { continue }
                found.append(
                    StoredLink(
                        row: row, other: other, position: statement.isNull(1) ? nil : statement.integer(1),
                        otherPosition: statement.isNull(2) ? nil : statement.integer(2)))
            }
            statement.reset()
        }
        return found
    }

    package func stored(_ rows: [JoinKey], _ link: CompiledAssociation) throws -> Set<JoinKey> {
        let statement = try statements.statement(LinkSQL(link, .first, layout).link)
        return try Set(
            rows.filter { row in
                statement.bind(row.first, at: 1)
                statement.bind(row.second, at: 2)
                defer { statement.reset() }
                return try statement.step()
            })
    }

    // MARK: Positions

    package func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [Int64]
    {
        guard let query = LinkSQL(link, end, layout).nextPosition else { return owners.map { _ in 0 } }
        let statement = try statements.statement(query)
        return try owners.map { owner in
            statement.bind(owner, at: 1)
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : 0
        }
    }

    package func reservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End)
        throws -> [[Int64]]
    {
        guard hasReferences, let relationship = link.side(end).relationship else { return owners.map { _ in [] } }
        let statement = try statements.statement(
            """
            SELECT position FROM sync_pending
            WHERE owner_entity IN (\(layout.entityNames(of: [link.side(end).table]))) AND owner_key = ? AND relationship = ?
            """)
        return try owners.map { owner in
            statement.bind(owner, at: 1)
            statement.bind(.text(relationship.name), at: 2)
            defer { statement.reset() }
            var positions: [Int64] = []
            while try statement.step() { positions.append(statement.integer(0)) }
            return positions
        }
    }

    package func setPositions(
        _ positions: [(key: JoinKey, position: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) throws {
        guard let update = LinkSQL(link, end, layout).positionUpdate else { return }
        let statement = try statements.statement(update)
        for (key, position) in positions {
            statement.bind(position, at: 1)
            statement.bind(key.row(end), at: 2)
            statement.bind(key.row(end.other), at: 3)
            try statement.execute()
            if statement.hasWrittenNothing { try checkMissing(key, link) }
        }
    }

    // MARK: Linking

    package func setForeignKeys(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) throws {
        let names = LinkTable(link, .first, layout)
        let columns = [names.other, names.otherPosition].compactMap { $0 }
        let set = columns.map { "\($0) = ?" }.joined(separator: ", ")
        let statement = try statements.statement("UPDATE \(names.table) SET \(set) WHERE \(names.mine) = ?")
        for change in changes {
            if let target = change.target { statement.bind(target, at: 1) } else { statement.bindNull(at: 1) }
            if columns.count > 1 {
                if let position = change.position { statement.bind(position, at: 2) } else { statement.bindNull(at: 2) }
            }
            statement.bind(change.row, at: columns.count + 1)
            try statement.execute()
            if statement.hasWrittenNothing { try checkMissing(link.first.table) { $0.bind(change.row, at: 1) } }
        }
    }

    package func insert(_ rows: [JoinRow], _ link: CompiledAssociation) throws {
        guard let stored = JoinTableStatements(link.id, layout, db) else { return }
        let ends = [CompiledAssociation.End.first, .second].filter { stored.order($0) != nil }
        try stored.insertion(of: rows.count).insert(rows.count) { index, statement, offset in
            statement.bind(rows[index].rows.first, at: offset + 1)
            statement.bind(rows[index].rows.second, at: offset + 2)
            for (position, end) in ends.enumerated() {
                if let number = rows[index].positions[end] {
                    statement.bind(number, at: offset + 3 + position)
                } else {
                    statement.bindNull(at: offset + 3 + position)
                }
            }
        }
    }

    package func insert(_ rows: [NodeLink], _ positions: [LinkPositions], _ link: CompiledAssociation) throws {
        guard let stored = JoinTableStatements(link.id, layout, db), let tables else { return }
        let ends = [CompiledAssociation.End.first, .second].filter { stored.order($0) != nil }
        let (first, second) = (NodeKeys(tables[link.first.table]), NodeKeys(tables[link.second.table]))
        var counter = ProgressCounter(steps)
        try stored.insertion(of: rows.count).insert(rows.count) { index, statement, offset in
            try counter.advance()
            first.bind(rows[index].first, to: statement, at: offset + 1)
            second.bind(rows[index].second, to: statement, at: offset + 2)
            for (position, end) in ends.enumerated() {
                statement.bind(positions[index][end] ?? 0, at: offset + 3 + position)
            }
        }
        try counter.finish()
    }

    package func remove(_ rows: [JoinKey], _ link: CompiledAssociation) throws {
        guard let removal = try JoinTableStatements(link.id, layout, db)?.removal() else { return }
        for row in rows {
            removal.bind(row.first, at: 1)
            removal.bind(row.second, at: 2)
            try removal.execute()
            if removal.hasWrittenNothing { try checkMissing(row, link) }
        }
    }

    /// Checks that a link is not stored, after an update or deletion of it that wrote nothing.
    ///
    /// - Throws: ``SyncError`` `incompatibleTables` if the link is stored, so that a trigger cancelled the write.
    private func checkMissing(_ row: JoinKey, _ link: CompiledAssociation) throws {
        guard try !stored([row], link).isEmpty else { return }
        let table =
            switch layout[link.id] {
            case .foreignKey(let table, _, _): table
            case .joinTable(let name, _, _, _, _): name
            }
        throw try TableTrigger.cancelledWrite(to: table, in: db)
    }
}

// MARK: - Join rows

// Compares stored join rows with the join rows that a payload asserts.
extension SQLiteSession {
    /// Compares the stored join rows with the join rows that a payload asserts.
    ///
    /// If the table is small compared with the payload, the call reads all join rows. In a larger table, the call reads
    /// the join rows of nodes with replaced lists, and each other asserted join row.
    package func diff(_ asserted: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) throws
        -> JoinTableDiff
    {
        guard let stored = JoinTableStatements(link.id, layout, db), let tables else { return JoinTableDiff() }
        let ends = (tables[link.first.table], tables[link.second.table])
        var reader = JoinRowMatcher(
            asserted, of: link, ends, lookups, columns: columns, collectingUnmatchedEnds: coversAll)
        asserted = ResolvedJoinRows()
        defer { asserted = reader.asserted }
        let others = reader.unreplacedRows()
        let limit = reader.replacedCount * 12 + others.count * 6
        guard limit > 0 else { return JoinTableDiff() }
        let size = try size(of: stored.table, limit: limit)
        switch size {
        case .empty: return JoinTableDiff()
        case .small:
            try compareAll(stored.all(), isOrdered: stored.isOrdered, &reader)
        case .large:
            let (firsts, seconds) = (reader.rowsWithReplacedLinks(.first), reader.rowsWithReplacedLinks(.second))
            try compareJoinRows(of: firsts, at: .first, stored, &reader, isOnlyEnd: seconds.isEmpty)
            try compareJoinRows(of: seconds, at: .second, stored, &reader, isOnlyEnd: firsts.isEmpty)
            try compare(others, stored, &reader)
        }
        if coversAll, reader.hasUnmatchedRows {
            danglingCandidates[link.id] = size == .small ? reader.unmatchedEnds : DanglingCandidates(areAll: false)
        }
        return reader.compared
    }

    /// Compares all join rows that a statement reads.
    private func compareAll(_ statement: RawStatement, isOrdered: Bool, _ reader: inout JoinRowMatcher) throws {
        var counter = ProgressCounter(steps)
        try reader.compareAll(statement, isOrdered: isOrdered, &counter)
        try counter.finish()
    }

    /// Compares the join rows of nodes whose lists are replaced.
    private func compareJoinRows(
        of nodes: [NodeID], at end: CompiledAssociation.End, _ stored: JoinTableStatements,
        _ reader: inout JoinRowMatcher,
        isOnlyEnd: Bool
    ) throws {
        guard !nodes.isEmpty else { return }
        let table = reader.table(end)
        // A scan of a key range ignores positions, and does not detect join rows that were read from the other end.
        if !stored.isOrdered, isOnlyEnd, let range = lookups[table.id.index].keyRange(of: nodes, factor: 12) {
            return try compareAll(stored.joinRows(of: range, at: end), isOrdered: false, &reader)
        }
        let statement = try stored.joinRows(ofRowAt: end)
        let rows = NodeKeys(table)
        var counter = ProgressCounter(steps)
        for node in nodes {
            try counter.advance()
            rows.bind(node, to: statement, at: 1)
            while try statement.step() { reader.compareOnce(statement) }
            statement.reset()
        }
        try counter.finish()
    }

    /// Compares asserted join rows for which neither node's list is replaced.
    private func compare(
        _ rows: [ResolvedJoinRows.Row], _ stored: JoinTableStatements, _ reader: inout JoinRowMatcher
    ) throws {
        guard !rows.isEmpty else { return }
        let statement = try stored.one()
        let (first, second) = (NodeKeys(reader.table(.first)), NodeKeys(reader.table(.second)))
        var counter = ProgressCounter(steps)
        for row in rows {
            try counter.advance()
            first.bind(row.first, to: statement, at: 1)
            second.bind(row.second, to: statement, at: 2)
            if try statement.step() { _ = reader.compare(statement) }
            statement.reset()
        }
        try counter.finish()
    }
}
