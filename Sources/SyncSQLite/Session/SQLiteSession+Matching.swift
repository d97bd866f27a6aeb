import CPrefetch
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

/// Finds the nodes of integer keys that are looked up in ascending order.
struct SortedKeyIterator {
    /// The keys, in ascending order.
    private let keys: [Int64]
    /// The node of each key; empty if the nodes are in the order of their keys.
    private let nodes: [Int32]
    private var position = 0

    init(_ keys: [Int64]) {
        nodes = KeySorter.ascending(keys)
        self.keys = nodes.isEmpty ? keys : nodes.map { keys[Int($0)] }
    }

    /// Returns the node of a key; nil if there is none. Each key must be at least the previous one.
    @inline(__always)
    mutating func node(for key: Int64) -> Int? {
        while position < keys.count, keys[position] < key { position += 1 }
        guard position < keys.count, keys[position] == key else { return nil }
        return nodes.isEmpty ? position : Int(nodes[position])
    }

    /// Returns the node that is `distance` keys ahead; nil if there is none, or if the nodes are in the order of their
    /// keys.
    @inline(__always)
    func node(ahead distance: Int) -> Int? {
        position + distance < nodes.count ? Int(nodes[position + distance]) : nil
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

/// Binds the row keys of the nodes of a table. It is a class, so that binding a key copies no part of the payload
/// graph.
final class NodeKeys {
    private let keys: NodeRowKeys
    private let batch: NodeBatch
    private let pool: TextPool
    /// Whether the batch contains the row keys of all nodes, which is the common case.
    private let areInBatch: Bool

    init(_ table: SyncTable) {
        keys = table.keys
        batch = table.batch
        pool = table.pool
        areInBatch = table.keys.isEmpty
    }

    @inline(__always)
    func bind(_ node: NodeID, to statement: RawStatement, at parameter: Int) {
        if !areInBatch, let key = keys[node] {
            statement.bind(key, at: parameter)
        } else {
            statement.bind(batch.nodes[node.index].key, at: parameter, pool)
        }
    }
}

/// Finds the nodes of one batch by their keys. It is a class, so that a lookup copies no part of the payload graph.
final class NodeLookup: Sendable {
    private let batch: NodeBatch
    /// Whether all nodes have integer keys with the same ``CompiledEntity/keyOwner``.
    let hasIntegerKeys: Bool
    /// Whether a column is read as a key only if it stores one of the key's type. SQLite would convert another value,
    /// such as 2.5 to the integer 2. The tables of the store are `STRICT`, so only existing tables need the test.
    let testsStorageClass: Bool

    init(_ batch: NodeBatch, testsStorageClass: Bool) {
        self.batch = batch
        self.testsStorageClass = testsStorageClass
        hasIntegerKeys = batch.hasOneSetOfKeys && batch.nodes.allSatisfy { $0.key.kind == .integer }
    }

    /// The key of each node; nil unless ``hasIntegerKeys``.
    var integerKeys: [Int64]? { hasIntegerKeys ? batch.nodes.map { $0.key.storedInteger } : nil }

    /// Returns the key of a node. Requires ``hasIntegerKeys``.
    @inline(__always)
    func integerKey(_ node: Int) -> Int64 { batch.nodes[node].key.storedInteger }

    var isEmpty: Bool { batch.nodes.isEmpty }

    /// Whether the batch has nodes that are identified by their owners.
    var hasOwned: Bool { !batch.owners.isEmpty }

    /// Returns the node whose key is in a column; nil if there is none. For keys other than text, it tries the node
    /// `guess` first, because rows are often in the order of the payload. Pass -1 for no guess.
    @inline(__always)
    func node(
        _ statement: RawStatement, _ column: Int, _ type: AttributeType, _ keyOwner: Int, _ pool: TextPool, guess: Int
    ) -> Int? {
        if testsStorageClass, !statement.hasKey(column, of: type) { return nil }
        switch type {
        case .integer:
            let key = statement.integer(column)
            if hasIntegerKeys, guess >= 0, guess < batch.nodes.count, integerKey(guess) == key { return guess }
            return batch.node(forKey: .integer(key), keyOwner: keyOwner, pool)?.index
        case .double:
            return node(forKey: .real(statement.real(column)), keyOwner, pool, guess)
        case .date:
            guard let date = DateParser.milliseconds(statement.text(column)) else { return nil }
            return node(forKey: .date(date), keyOwner, pool, guess)
        default:
            return batch.node(forText: statement.text(column), keyOwner: keyOwner, pool)?.index
        }
    }

    /// Returns the node whose key is this text; nil if there is none. It tries the node `guess` first.
    func node(_ text: UnsafeBufferPointer<UInt8>, _ keyOwner: Int, _ pool: TextPool, guess: Int) -> Int? {
        if guess >= 0, guess < batch.nodes.count, batch.hasOneSetOfKeys,
            TextPool.equal(pool.bytes(batch.nodes[guess].key), text)
        {
            return guess
        }
        return batch.node(forText: text, keyOwner: keyOwner, pool)?.index
    }

    private func node(forKey key: PackedValue, _ keyOwner: Int, _ pool: TextPool, _ guess: Int) -> Int? {
        batch.node(forKey: key, keyOwner: keyOwner, pool, guess: guess < 0 ? nil : NodeID(guess))?.index
    }

    // MARK: Prefetching

    /// Prefetches a node and its values, which are about to be read. If rows are not in the order of the payload, each
    /// read would otherwise be a cache miss.
    @inline(__always)
    func prefetch(_ node: Int, version: Int) {
        batch.nodes.withUnsafeBufferPointer { nodes in
            guard let base = nodes.baseAddress else { return }
            sync_prefetch(base + node)
        }
        guard version >= 0, version < batch.versionCount else { return }
        batch.slots.withUnsafeBufferPointer { slots in
            guard let base = slots.baseAddress else { return }
            sync_prefetch(base + version * batch.stride)
            sync_prefetch(base + (version + 1) * batch.stride - 1)
        }
    }

    /// Prefetches the texts of a node whose values were prefetched before.
    @inline(__always)
    func prefetchTexts(version: Int, _ pool: TextPool) {
        guard version >= 0, version < batch.versionCount, let payload = pool.payload.baseAddress else { return }
        batch.slots.withUnsafeBufferPointer { slots in
            for slot in slots[version * batch.stride..<(version + 1) * batch.stride] where slot.kind == .payloadText {
                sync_prefetch(payload + slot.offset)
            }
        }
    }
}
