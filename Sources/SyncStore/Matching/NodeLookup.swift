import CPrefetch
public import SyncCore

/// Finds the nodes of one batch by their keys. It is a class, so that a lookup copies no part of the payload graph.
@usableFromInline
package final class NodeLookup: Sendable {
    private let batch: NodeBatch
    /// Whether all nodes have integer keys with the same ``CompiledEntity/keyOwner``.
    package let hasIntegerKeys: Bool
    /// Whether a column is read as a key only if it stores one of the key's type. The database would convert another
    /// value, such as 2.5 to the integer 2. The tables of the store are `STRICT`, so only existing tables need the test.
    @usableFromInline
    package let testsStorageClass: Bool
    @usableFromInline
    let isEmpty: Bool
    /// Whether the batch has nodes that are identified by their owners.
    @usableFromInline
    let hasOwned: Bool

    package init(_ batch: NodeBatch, testsStorageClass: Bool) {
        self.batch = batch
        self.testsStorageClass = testsStorageClass
        hasIntegerKeys = batch.hasOneSetOfKeys && batch.nodes.allSatisfy { $0.key.kind == .integer }
        isEmpty = batch.nodes.isEmpty
        hasOwned = !batch.owners.isEmpty
    }

    /// The key of each node; nil unless ``hasIntegerKeys``.
    package var integerKeys: [Int64]? { hasIntegerKeys ? batch.nodes.map { $0.key.integer } : nil }

    /// Returns the key of a node. Requires ``hasIntegerKeys``.
    @inline(__always)
    func integerKey(_ node: Int) -> Int64 { batch.nodes[node].key.integer }

    /// Returns the range of the keys of all nodes; nil if they are not integers, or too far apart (``KeyRange``).
    package func keyRange(factor: Int) -> KeyRange? {
        hasIntegerKeys ? KeyRange(batch.nodes.indices.lazy.map { self.integerKey($0) }, factor: factor) : nil
    }

    /// Returns the range of the keys of some nodes; nil if they are not integers, or too far apart (``KeyRange``).
    package func keyRange(of nodes: [NodeID], factor: Int) -> KeyRange? {
        hasIntegerKeys ? KeyRange(nodes.lazy.map { self.integerKey($0.index) }, factor: factor) : nil
    }

    // MARK: Finding nodes

    /// Returns the node whose key is in a column; nil if there is none. For keys other than text, it tries the node
    /// `guess` first, because rows are often in the order of the payload. Pass -1 for no guess.
    @inlinable
    @inline(__always)
    func node(
        _ row: some StoredRowReader, _ column: Int, _ type: AttributeType, _ keyOwner: Int, _ pool: TextPool, guess: Int
    ) -> Int? {
        if testsStorageClass, !row.hasKey(column, of: type) { return nil }
        switch type {
        case .integer: return node(ofInteger: row.integer(column), keyOwner, pool, guess)
        case .double: return node(ofReal: row.real(column), keyOwner, pool, guess)
        case .date: return node(ofDate: row.text(column), keyOwner, pool, guess)
        default: return node(ofText: row.text(column), keyOwner, pool)
        }
    }

    @usableFromInline
    func node(ofInteger key: Int64, _ keyOwner: Int, _ pool: TextPool, _ guess: Int) -> Int? {
        if hasIntegerKeys, guess >= 0, guess < batch.nodes.count, integerKey(guess) == key { return guess }
        return batch.node(forKey: .integer(key), keyOwner: keyOwner, pool)?.index
    }

    @usableFromInline
    func node(ofReal key: Double, _ keyOwner: Int, _ pool: TextPool, _ guess: Int) -> Int? {
        node(forKey: .real(key), keyOwner, pool, guess)
    }

    @usableFromInline
    func node(ofDate text: UnsafeBufferPointer<UInt8>, _ keyOwner: Int, _ pool: TextPool, _ guess: Int) -> Int? {
        guard let date = DateParser.milliseconds(text) else { return nil }
        return node(forKey: .date(date), keyOwner, pool, guess)
    }

    @usableFromInline
    func node(ofText text: UnsafeBufferPointer<UInt8>, _ keyOwner: Int, _ pool: TextPool) -> Int? {
        batch.node(forText: text, keyOwner: keyOwner, pool)?.index
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
            for slot in slots[batch.indexes(ofVersion: version)] where slot.kind == .payloadText {
                sync_prefetch(payload + slot.offset)
            }
        }
    }
}

/// Finds the nodes of integer keys that are looked up in ascending order.
@usableFromInline
package struct SortedKeyIterator {
    /// The keys, in ascending order.
    @usableFromInline
    let keys: [Int64]
    /// The node of each key; empty if the nodes are in the order of their keys.
    @usableFromInline
    let nodes: [Int32]
    @usableFromInline
    var position = 0

    package init(_ keys: [Int64]) {
        nodes = KeySorter.ascending(keys)
        self.keys = nodes.isEmpty ? keys : nodes.map { keys[Int($0)] }
    }

    /// Returns the node of a key; nil if there is none. Each key must be at least the previous one.
    @inlinable
    @inline(__always)
    package mutating func node(for key: Int64) -> Int? {
        while position < keys.count, keys[position] < key { position += 1 }
        guard position < keys.count, keys[position] == key else { return nil }
        return nodes.isEmpty ? position : Int(nodes[position])
    }

    /// Returns the node that is `distance` keys ahead; nil if there is none, or if the nodes are in the order of their
    /// keys.
    @inlinable
    @inline(__always)
    package func node(ahead distance: Int) -> Int? {
        position + distance < nodes.count ? Int(nodes[position + distance]) : nil
    }
}

/// A range of integer keys that are so close together that a scan of the range costs less than a lookup of each key.
package struct KeyRange {
    package let keys: ClosedRange<Int64>

    /// Returns nil if the range may have more than `factor` rows for each key, or if there are no keys.
    package init?(_ keys: some Collection<Int64>, factor: Int) {
        guard let low = keys.min(), let high = keys.max(),
            UInt64(bitPattern: high &- low) < UInt64(keys.count * factor)
        else { return nil }
        self.keys = low...high
    }
}
