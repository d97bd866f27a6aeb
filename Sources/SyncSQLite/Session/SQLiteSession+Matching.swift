import GRDB
package import SyncCore
package import SyncStore

// Matches stored rows with nodes. The session scans a table, or looks up each key if the table is much larger than the
// payload.
extension SQLiteSession {
    package func match(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws {
        let keyed = table.batch.nodes.count - table.batch.owners.count
        if pass != .diff, watch.scope != nil { return try scan(table, pass, watch) }
        guard keyed > 0 else { return }
        switch try size(of: columns(table.id).table, limit: keyed * 6) {
        case .empty: break
        case .small: try scan(table, pass, watch)
        case .large:
            let lookup = lookups[table.id.index]
            if columns(table.id).isOrderedByKey, lookup.hasIntegerKeys,
                let range = KeyRange(table.batch.nodes.indices.lazy.map { lookup.integerKey($0) }, factor: 6)
            {
                try scan(table, pass, watch, within: range)
            } else {
                try matchByKey(table, pass)
            }
        }
    }

    package func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws {
        let columns = columns(table.id)
        let statement = try statements.statement(columns.select + " WHERE \(columns.keyColumn) = ?")
        var matcher = RowMatcher(table, self, pass)
        defer { matcher.finish() }
        for (node, key) in rows {
            statement.bind(key, at: 1)
            if try statement.step() {
                let entity = try columns.entity(statement, at: columns.entity)
                matcher.accept(statement, node: node.index, entity: entity)
            }
            statement.reset()
        }
    }

    /// Compares the number of rows of a table with a limit. A table that was found to exceed this limit, or a higher
    /// one, is not counted again.
    func size(of table: String, limit: Int) throws -> TableSize {
        if let known = scratch[table], known >= limit { return .large }
        let size = try TableSize(of: table, limit: limit, in: db)
        if size == .large { scratch[table] = limit }
        return size
    }

    private func scan(
        _ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter, within range: KeyRange? = nil
    ) throws {
        let columns = columns(table.id)
        let lookup = lookups[table.id.index]
        // With integer keys, the statement reads rows in the order of their keys, so rows and nodes can be merged. The
        // merge compares integers, so the rows of a column that may store other values are looked up instead.
        let keys = columns.isOrderedByKey ? lookup.integerKeys : nil
        var cursor = lookup.testsStorageClass ? nil : keys.map { SortedKeyIterator($0) }
        let statement = try RawStatement(
            db,
            columns.select + (range == nil ? "" : KeyRange.condition(columns.keyColumn))
                + (keys == nil ? "" : " ORDER BY \(columns.keyColumn)"))
        range?.bind(to: statement)
        let collectsUnmatchedRows = pass != .diff && range == nil
        var matcher = RowMatcher(table, self, pass, expecting: pass == .diff ? [] : expectedTargets(table))
        defer { matcher.finish() }
        if collectsUnmatchedRows { matcher.isScanned() }
        var counter = ProgressCounter(steps)
        var last = -1
        while try statement.step() {
            try counter.advance()
            if let cursor { matcher.prefetch(cursor) }
            let entity = try columns.entity(statement, at: columns.entity)
            let met =
                cursor == nil
                ? matcher.node(statement, entity: entity, guess: last + 1) : cursor?.node(for: statement.integer(0))
            if let node = met {
                last = node
                matcher.accept(statement, node: node, entity: entity)
            } else if collectsUnmatchedRows {
                matcher.addUnmatchedRow(statement, entity: entity, watch)
            }
        }
        danglingCandidates.merge(matcher.danglingCandidates) { $1 }
        try counter.finish()
    }

    /// Returns the last target that the payload asserts, by foreign key and node. It is probably the stored target.
    private func expectedTargets(_ table: SyncTable) -> [[Int32]] {
        table.hierarchy.foreignKeys.map { link in
            guard let assertions = plan?[link].assertions, !assertions.isEmpty else { return [] }
            return assertions.lastTargets(count: table.batch.nodes.count)
        }
    }

    private func matchByKey(_ table: SyncTable, _ pass: MatchPass) throws {
        let columns = columns(table.id)
        let batch = table.batch
        var statements: [Int: (statement: RawStatement, key: KeyColumns?)] = [:]
        // Look up keys in the order of the table, so that consecutive rows are on the same page.
        let order = lookups[table.id.index].integerKeys.map { KeySorter.ascending($0) } ?? []
        var matcher = RowMatcher(table, self, pass)
        defer { matcher.finish() }
        var counter = ProgressCounter(steps)
        for position in batch.nodes.indices {
            let node = order.isEmpty ? position : Int(order[position])
            guard batch.nodes[node].key.kind != .absent else { continue }
            try counter.advance()
            let given = model.entities[Int(batch.nodes[node].entity)]
            guard let keyOwner = given.keyOwner else { continue }
            let (statement, key): (RawStatement, KeyColumns?)
            if let known = statements[keyOwner] {
                (statement, key) = known
            } else {
                statement = try RawStatement(db, columns.select + keyCondition(given))
                key = columns.compositeKey(keyOwner)?.key
                statements[keyOwner] = (statement, key)
            }
            if let key {
                guard let parts = RowKey(batch.nodes[node].key, table.pool), key.bind(parts, to: statement, at: 1)
                else {
                    continue
                }
            } else {
                statement.bind(batch.nodes[node].key, at: 1, table.pool)
            }
            if try statement.step() {
                let entity = try columns.entity(statement, at: columns.entity)
                matcher.accept(statement, node: node, entity: entity)
            }
            statement.reset()
        }
        try counter.finish()
    }

    /// Returns a `WHERE` clause that selects the row with a key, among the rows whose entity has the same
    /// ``CompiledEntity/keyOwner``. A composite key has a condition for each part.
    ///
    /// - Parameter value: An SQL expression for the key; nil to use parameters.
    func keyCondition(_ entity: CompiledEntity, equals value: String? = nil) -> String {
        let columns = columns(entity.table)
        guard columns.hasSurrogateKey, let key = KeyColumns(entity, layout) else {
            return " WHERE \(columns.keyColumn) = \(value ?? "?")"
        }
        return " WHERE " + key.condition(of: key.table.name, equals: value.map(key.leaves(ofKey:)))
    }
}

/// A range of integer keys that are so close together that a scan of the range costs less than a lookup of each key.
struct KeyRange {
    let keys: ClosedRange<Int64>

    /// Returns nil if the range may have more than `factor` rows for each key, or if there are no keys.
    init?(_ keys: some Collection<Int64>, factor: Int) {
        guard let low = keys.min(), let high = keys.max(),
            UInt64(bitPattern: high &- low) < UInt64(keys.count * factor)
        else { return nil }
        self.keys = low...high
    }

    /// Returns the `WHERE` clause for a range, with two parameters.
    static func condition(_ column: String) -> String { " WHERE \(column) BETWEEN ? AND ?" }

    func bind(to statement: RawStatement) {
        statement.bind(keys.lowerBound, at: 1)
        statement.bind(keys.upperBound, at: 2)
    }
}
