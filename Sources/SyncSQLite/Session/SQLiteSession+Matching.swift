import GRDB
package import SyncCore
package import SyncStore

// Stored rows meet the plan's nodes by one pass over the table, or by looking each key up when the table is much larger than
// the payload.
extension SQLiteSession {
    package func meet(_ table: SyncTable, _ pass: MatchPass, _ watch: StrayWatch) throws {
        let keyed = table.batch.nodes.count - table.batch.owners.count
        if pass != .compare, watch.scope != nil { return try scan(table, pass, watch) }
        guard keyed > 0 else { return }
        switch try size(of: columns(table.id).table, limit: keyed * 6) {
        case .empty: break
        case .small: try scan(table, pass, watch)
        case .large:
            if columns(table.id).isOrderedByKey, let keys = KeyRange(lookups[table.id.index].integerKeys, factor: 6) {
                try scan(table, pass, watch, within: keys)
            } else {
                try lookUp(table, pass)
            }
        }
    }

    package func meet(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws {
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

    /// Whether a table has at most so many rows. What a run once found to be large is not measured again.
    func size(of table: String, limit: Int) throws -> TableSize {
        if let known = memory[table], known >= limit { return .large }
        let size = try TableSize(of: table, limit: limit, in: db)
        if size == .large { memory[table] = limit }
        return size
    }

    /// How many strays are weighed at once.
    private static let straysAtOnce = 4096

    private func scan(
        _ table: SyncTable, _ pass: MatchPass, _ watch: StrayWatch, within range: KeyRange? = nil
    ) throws {
        let columns = columns(table.id)
        // Integer keys are the table's own order, so that rows and nodes can be merged.
        let integerKeys = lookups[table.id.index].integerKeys
        var cursor = columns.isOrderedByKey && !integerKeys.isEmpty ? KeyCursor(integerKeys) : nil
        let statement = try RawStatement(
            db,
            columns.select + (range == nil ? "" : KeyRange.condition(columns.keyColumn))
                + (cursor == nil ? "" : " ORDER BY \(columns.keyColumn)"))
        range?.bind(to: statement)
        let collectsStrays = pass != .compare && range == nil
        var matcher = RowMatcher(table, self, pass, expecting: pass == .compare ? [] : expectedTargets(table))
        defer { matcher.finish() }
        if collectsStrays { matcher.isScanned() }
        var counter = StepCounter(steps)
        var last = -1
        var weighed = 0
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
            } else if collectsStrays {
                matcher.addStray(statement, entity: entity, watch)
                if let keeping = watch.keeping, matcher.met.strays.rows.count >= weighed + Self.straysAtOnce {
                    try matcher.keepStrays(from: weighed, keeping)
                    weighed = matcher.met.strays.rows.count
                }
            }
        }
        if let keeping = watch.keeping { try matcher.keepStrays(from: weighed, keeping) }
        doubtfulEnds.merge(matcher.doubtful) { $1 }
        try counter.finish()
    }

    /// What the payload says last of each foreign key, which is likely what is stored.
    private func expectedTargets(_ table: SyncTable) -> [[Int32]] {
        table.tree.foreignKeys.map { link in
            guard let assertions = plan?[link].assertions, !assertions.isEmpty else { return [] }
            var expected: [Int32] = Array(repeating: -1, count: table.batch.nodes.count)
            for assertion in assertions {
                expected[assertion.first.index] = Int32(truncatingIfNeeded: assertion.second.index)
            }
            return expected
        }
    }

    private func lookUp(_ table: SyncTable, _ pass: MatchPass) throws {
        let columns = columns(table.id)
        let batch = table.batch
        var statements: [Int: (statement: RawStatement, key: KeyColumns?)] = [:]
        // In the order of the table, so that neighbours are found on the same page.
        let order = KeyOrder.ascending(lookups[table.id.index].integerKeys)
        var matcher = RowMatcher(table, self, pass)
        defer { matcher.finish() }
        var counter = StepCounter(steps)
        for place in batch.nodes.indices {
            let node = order.isEmpty ? place : Int(order[place])
            guard batch.nodes[node].key.kind != .absent else { continue }
            try counter.advance()
            let given = model.entities[Int(batch.nodes[node].entity)]
            guard let keyOwner = given.keyOwner else { continue }
            let (statement, key): (RawStatement, KeyColumns?)
            if let known = statements[keyOwner] {
                (statement, key) = known
            } else {
                statement = try RawStatement(db, columns.select + keyCondition(given))
                key = columns.partedKey(keyOwner)?.key
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

    /// ` WHERE key = ?`, among the rows that share the entity's keys; for each part of the key one.
    ///
    /// - Parameter value: An expression for the key; parameters if none is given.
    func keyCondition(_ entity: CompiledEntity, equals value: String? = nil) -> String {
        let columns = columns(entity.table)
        guard columns.hasHiddenKey, let key = KeyColumns(entity, layout) else {
            return " WHERE \(columns.keyColumn) = \(value ?? "?")"
        }
        return " WHERE " + key.condition(of: key.table.name, equals: value.map(key.leaves(ofKey:)))
    }
}
