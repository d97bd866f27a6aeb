import CPrefetch

/// A hash table from keys to the nodes of a batch, made for being filled and asked millions of times.
package struct KeyIndex: Sendable {
    /// Upper half: 32 bits of the hash, which also say where to look first; lower half: node + 1, or 0 if free.
    private var buckets: [UInt64] = Array(repeating: 0, count: 16)
    private var mask = 15
    private var count = 0

    package init() {}

    /// The node with this key, if there is one.
    @inline(__always)
    package func node(for key: Slot, hash: UInt64, in nodes: [RowBatch.Node], _ pool: TextPool) -> NodeID? {
        node(hash: hash) { pool.isSameKey(nodes[$0].key, key) }
    }

    /// The node whose key is this text.
    func node(forText text: UnsafeBufferPointer<UInt8>, in nodes: [RowBatch.Node], _ pool: TextPool) -> NodeID? {
        node(hash: TextPool.hash(text)) { TextPool.equal(pool.bytes(nodes[$0].key), text) }
    }

    @inline(__always)
    private func node(hash: UInt64, where isKey: (Int) -> Bool) -> NodeID? {
        let half = hash >> 32
        var bucket = Int(truncatingIfNeeded: half) & mask
        while true {
            let entry = buckets[bucket]
            if entry == 0 { return nil }
            if entry >> 32 == half {
                let node = Int(truncatingIfNeeded: entry & 0xFFFF_FFFF) - 1
                if isKey(node) { return NodeID(node) }
            }
            bucket = (bucket + 1) & mask
        }
    }

    /// Adds a node whose key is not in the table yet.
    @inline(__always)
    package mutating func insert(_ node: NodeID, hash: UInt64) {
        if count * 4 >= mask * 3 { grow() }
        bucket((hash & ~0xFFFF_FFFF) | UInt64(truncatingIfNeeded: node.index + 1))
        count += 1
    }

    @inline(__always)
    private mutating func bucket(_ entry: UInt64) {
        var bucket = Int(truncatingIfNeeded: entry >> 32) & mask
        while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = entry
    }

    /// Asks for the memory of a key that will be looked up soon: its bucket is a random one.
    @inline(__always)
    func prefetch(hash: UInt64) {
        buckets.withUnsafeBufferPointer { buckets in
            guard let base = buckets.baseAddress else { return }
            sync_prefetch(base + (Int(truncatingIfNeeded: hash >> 32) & mask))
        }
    }

    /// Makes room for so many keys.
    mutating func reserve(_ count: Int) {
        var wanted = mask
        while count * 4 >= wanted * 3 { wanted = wanted * 2 + 1 }
        if wanted > mask { grow(to: wanted) }
    }

    private mutating func grow() { grow(to: mask * 2 + 1) }

    private mutating func grow(to mask: Int) {
        let old = buckets
        self.mask = mask
        buckets = []
        buckets.reserve(mask + 1)
        buckets.append(contentsOf: repeatElement(0, count: mask + 1))
        for entry in old where entry != 0 { bucket(entry) }
    }
}
