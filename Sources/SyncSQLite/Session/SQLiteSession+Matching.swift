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
        switch try size(of: rowSQL(table.id).table, limit: keyed * 6) {
        case .empty: break
        case .small: try scan(table, pass, watch)
        case .large:
            if columns(table.id).isOrderedByKey, let range = lookups[table.id.index].keyRange(factor: 6) {
                try scan(table, pass, watch, within: range)
            } else {
                try matchByKey(table, pass)
            }
        }
    }

    package func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws {
        let rowSQL = rowSQL(table.id)
        let statement = try statements.statement(rowSQL.select + " WHERE \(rowSQL.keyColumn) = ?")
        var matcher = RowMatcher(table, pass, lookups, columns: columns)
        defer { matcher.finish() }
        for (node, key) in rows {
            statement.bind(key, at: 1)
            if try statement.step() { try matcher.accept(statement, node: node.index) }
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
        let rowSQL = rowSQL(table.id)
        let lookup = lookups[table.id.index]
        // With integer keys, the statement reads rows in the order of their keys, so rows and nodes can be merged. The
        // merge compares integers, so the rows of a column that may store other values are looked up instead.
        let keys = rowSQL.columns.isOrderedByKey ? lookup.integerKeys : nil
        let statement = try RawStatement(
            db,
            rowSQL.select + (range == nil ? "" : KeyRange.condition(rowSQL.keyColumn))
                + (keys == nil ? "" : " ORDER BY \(rowSQL.keyColumn)"))
        range?.bind(to: statement)
        var matcher = RowMatcher(
            table, pass, lookups, columns: columns, collecting: pass != .diff && range == nil ? watch : nil,
            expecting: pass == .diff ? [] : expectedTargets(table))
        defer { matcher.finish() }
        var counter = ProgressCounter(steps)
        if let keys, !lookup.testsStorageClass {
            try matcher.matchAll(statement, inOrderOf: SortedKeyIterator(keys), &counter)
        } else {
            try matcher.matchAll(statement, &counter)
        }
        danglingCandidates.merge(matcher.danglingCandidates) { $1 }
        try counter.finish()
    }

    /// Returns the last target that the payload asserts, by foreign key and node. It is probably the stored target.
    private func expectedTargets(_ table: SyncTable) -> [[Int32]] {
        table.hierarchy.foreignKeys.map { link in
            guard let assertions = graph?[link].assertions, !assertions.isEmpty else { return [] }
            return assertions.lastTargets(count: table.batch.nodes.count)
        }
    }

    private func matchByKey(_ table: SyncTable, _ pass: MatchPass) throws {
        let rowSQL = rowSQL(table.id)
        let batch = table.batch
        var statements: [Int: (statement: RawStatement, key: KeyColumns?)] = [:]
        // Look up keys in the order of the table, so that consecutive rows are on the same page.
        let order = lookups[table.id.index].integerKeys.map { KeySorter.ascending($0) } ?? []
        var matcher = RowMatcher(table, pass, lookups, columns: columns)
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
                statement = try RawStatement(db, rowSQL.select + keyCondition(given))
                key = rowSQL.compositeKeys[keyOwner]
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
            if try statement.step() { try matcher.accept(statement, node: node) }
            statement.reset()
        }
        try counter.finish()
    }

    /// Returns a `WHERE` clause that selects the row with a key, among the rows whose entity has the same
    /// ``CompiledEntity/keyOwner``. A composite key has a condition for each part.
    ///
    /// - Parameter value: An SQL expression for the key; nil to use parameters.
    func keyCondition(_ entity: CompiledEntity, equals value: String? = nil) -> String {
        let rowSQL = rowSQL(entity.table)
        guard rowSQL.columns.hasSurrogateKey, let key = KeyColumns(entity, layout) else {
            return " WHERE \(rowSQL.keyColumn) = \(value ?? "?")"
        }
        return " WHERE " + key.condition(of: key.table.name, equals: value.map(key.leaves(ofKey:)))
    }
}

extension KeyRange {
    /// Returns the `WHERE` clause for a range, with two parameters.
    static func condition(_ column: String) -> String { " WHERE \(column) BETWEEN ? AND ?" }

    func bind(to statement: RawStatement) {
        statement.bind(keys.lowerBound, at: 1)
        statement.bind(keys.upperBound, at: 2)
    }
}
