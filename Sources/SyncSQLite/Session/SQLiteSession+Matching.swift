import CPrefetch
import GRDB
package import SyncCore
package import SyncStore

// Stored rows meet the plan's nodes by one pass over the table, or by looking each key up when the table is much larger than
// the payload.
extension SQLiteSession {
    package func meet(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws {
        let keyed = table.batch.nodes.count - table.batch.owners.count
        if pass != .compare, watch.scope != nil { return try scan(table, pass, watch) }
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
        _ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter, within range: KeyRange? = nil
    ) throws {
        let columns = columns(table.id)
        // Integer keys are the table's own order, so that rows and nodes can be merged.
        var cursor = columns.isOrderedByKey ? lookups[table.id.index].integerKeys.map { SortedKeyIterator($0) } : nil
        let statement = try RawStatement(
            db,
            columns.select + (range == nil ? "" : KeyRange.condition(columns.keyColumn))
                + (cursor == nil ? "" : " ORDER BY \(columns.keyColumn)"))
        range?.bind(to: statement)
        let collectsUnmatchedRows = pass != .compare && range == nil
        var matcher = RowMatcher(table, self, pass, expecting: pass == .compare ? [] : expectedTargets(table))
        defer { matcher.finish() }
        if collectsUnmatchedRows { matcher.isScanned() }
        var counter = ProgressCounter(steps)
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
            } else if collectsUnmatchedRows {
                matcher.addUnmatchedRow(statement, entity: entity, watch)
                if let keeping = watch.keeping, matcher.met.strays.rows.count >= weighed + Self.straysAtOnce {
                    try matcher.filterUnmatchedRows(from: weighed, keeping)
                    weighed = matcher.met.strays.rows.count
                }
            }
        }
        if let keeping = watch.keeping { try matcher.filterUnmatchedRows(from: weighed, keeping) }
        doubtfulEnds.merge(matcher.doubtful) { $1 }
        try counter.finish()
    }

    /// What the payload says last of each foreign key, which is likely what is stored.
    private func expectedTargets(_ table: SyncTable) -> [[Int32]] {
        table.tree.foreignKeys.map { link in
            guard let assertions = plan?[link].assertions, !assertions.isEmpty else { return [] }
            return assertions.lastTargets(count: table.batch.nodes.count)
        }
    }

    private func lookUp(_ table: SyncTable, _ pass: MatchPass) throws {
        let columns = columns(table.id)
        let batch = table.batch
        var statements: [Int: (statement: RawStatement, key: KeyColumns?)] = [:]
        // In the order of the table, so that neighbours are found on the same page.
        let order = lookups[table.id.index].integerKeys.map { KeySorter.ascending($0) } ?? []
        var matcher = RowMatcher(table, self, pass)
        defer { matcher.finish() }
        var counter = ProgressCounter(steps)
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

/// The nodes of integer keys, asked for in ascending order.
struct SortedKeyIterator {
    /// The keys, ascending.
    private let keys: [Int64]
    /// The node of each key; empty if the nodes are in this order already.
    private let nodes: [Int32]
    private var position = 0

    init(_ keys: [Int64]) {
        nodes = KeySorter.ascending(keys)
        self.keys = nodes.isEmpty ? keys : nodes.map { keys[Int($0)] }
    }

    /// The node of the next row's key, which is no lower than the key asked for before; nil if there is none.
    @inline(__always)
    mutating func node(for key: Int64) -> Int? {
        while position < keys.count, keys[position] < key { position += 1 }
        guard position < keys.count, keys[position] == key else { return nil }
        return nodes.isEmpty ? position : Int(nodes[position])
    }

    /// The node that is so many keys ahead, unless nodes are in this order anyway.
    @inline(__always)
    func node(ahead distance: Int) -> Int? {
        position + distance < nodes.count ? Int(nodes[position + distance]) : nil
    }
}

/// Integer keys so close to each other that reading all rows between them costs less than looking up each.
struct KeyRange {
    let keys: ClosedRange<Int64>

    /// Nil if there may be more than `factor` rows to a key, or there are no keys.
    init?(_ keys: some Collection<Int64>, factor: Int) {
        guard let low = keys.min(), let high = keys.max(),
            UInt64(bitPattern: high &- low) < UInt64(keys.count * factor)
        else { return nil }
        self.keys = low...high
    }

    /// A condition with two places to bind.
    static func condition(_ column: String) -> String { " WHERE \(column) BETWEEN ? AND ?" }

    func bind(to statement: RawStatement) {
        statement.bind(keys.lowerBound, at: 1)
        statement.bind(keys.upperBound, at: 2)
    }
}

/// Binds the row keys of a table's nodes. A class, so that no part of the plan is copied for a key.
final class NodeKeys {
    private let keys: NodeRowKeys
    private let batch: NodeBatch
    private let pool: TextPool
    /// Whether all keys are in their slots, as they mostly are.
    private let areStaged: Bool

    init(_ table: SyncTable) {
        keys = table.keys
        batch = table.batch
        pool = table.pool
        areStaged = table.keys.isEmpty
    }

    @inline(__always)
    func bind(_ node: NodeID, to statement: RawStatement, at parameter: Int) {
        if !areStaged, let key = keys[node] {
            statement.bind(key, at: parameter)
        } else {
            statement.bind(batch.nodes[node.index].key, at: parameter, pool)
        }
    }
}

/// Finds the nodes of one batch by their keys. A class, so that a look-up copies no part of the plan.
final class NodeLookup: Sendable {
    private let batch: NodeBatch
    /// Whether the keys of all nodes are integers and one set.
    let hasIntegerKeys: Bool

    init(_ batch: NodeBatch) {
        self.batch = batch
        hasIntegerKeys = batch.hasOneSetOfKeys && batch.nodes.allSatisfy { $0.key.kind == .integer }
    }

    /// By node: its key; nil unless all are integers and one set.
    var integerKeys: [Int64]? { hasIntegerKeys ? batch.nodes.map { $0.key.storedInteger } : nil }

    /// The key of a node, where ``hasIntegerKeys``.
    @inline(__always)
    func integerKey(_ node: Int) -> Int64 { batch.nodes[node].key.storedInteger }

    var isEmpty: Bool { batch.nodes.isEmpty }

    /// Whether the payload has rows that are known by their owners.
    var hasOwned: Bool { !batch.owners.isEmpty }

    /// The node of the key in a column. `guess` is tried first: rows often come in the order of the payload; -1 for none.
    @inline(__always)
    func node(
        _ statement: RawStatement, _ column: Int, _ type: AttributeType, _ keyOwner: Int, _ pool: TextPool, guess: Int
    ) -> Int? {
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

    /// The node with a key that is this text.
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

    // MARK: Rows in another order than the payload's

    /// Asks for a node and its values, which will be read soon: out of order each would be waited for.
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

    /// Asks for the texts of a node whose values were asked for a while ago.
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
