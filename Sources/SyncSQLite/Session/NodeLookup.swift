import CPrefetch
import SyncCore
import SyncStore

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
