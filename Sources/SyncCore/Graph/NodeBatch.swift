import CPrefetch

/// The nodes of one inheritance hierarchy in a payload.
///
/// The values of all nodes are in `slots`, with `stride` values for each version, from `firstSlot` on. A node has at
/// most one version, unless its records have different permissions or occurrences are tracked. Only the store can then
/// decide which records are effective.
package struct NodeBatch: Sendable {
    /// A row as the payload describes it.
    package struct Node: Sendable {
        /// The primary key; absent for a row that its owner identifies (``OwnerLink``).
        package var key: PackedValue
        /// The first version in document order; -1 if no record describes the row.
        package var firstVersion: Int32 = -1
        /// The most specific entity that records state for the row. Without a record, it is the entity of the first
        /// reference.
        package var entity: Int16
        /// Whether a root record describes the row.
        package var isRoot = false
        /// The index in `owners` of the owner that identifies the row; nil for a row with a key.
        package var ownerIndex: Int? { key.kind == .absent ? Int(truncatingIfNeeded: key.bits) : nil }
        /// Whether a record describes the row; false if the payload only references it.
        package var isGiven: Bool { firstVersion >= 0 }

        init(key: PackedValue, entity: Int) {
            self.key = key
            self.entity = Int16(truncatingIfNeeded: entity)
        }

        init(owner: Int, entity: Int) {
            self.init(key: PackedValue(kind: .absent, bits: UInt64(owner)), entity: entity)
        }
    }

    /// The identity of a row whose record has no key: its owner, the association, and the index in the owner's list
    /// (`position`).
    package struct OwnerLink: Sendable, Hashable {
        package var link: AssociationID
        /// The end of the association that the owner is at.
        package var end: CompiledAssociation.End
        package var table: TableID
        package var node: NodeID
        package var position: Int32
    }

    /// One set of values of a node, from one record or from several records with one permission.
    private struct Version: Sendable {
        var permission: AllowedOperations
        /// The next version of the same node; -1 if there is none.
        var next: Int32 = -1
        var last: Int32
        /// The occurrence of the record with the values; -1 if occurrences are not tracked.
        var occurrence: Int32 = -1
    }

    /// The slot of the first stored value of a version. It is 1 if slot 0 has the primary key, because each node has its
    /// key.
    package let firstSlot: Int
    package let stride: Int
    package private(set) var nodes: [Node] = []
    package private(set) var slots: [PackedValue] = []
    package private(set) var versionCount = 0
    /// The versions of all nodes. The array stays empty while all versions have the same permission, `permission`, and
    /// occurrences are not tracked.
    private var versions: [Version] = []
    private var permission: AllowedOperations?
    package private(set) var owners: [OwnerLink] = []
    /// The entities that declare the keys of the nodes (``CompiledEntity/keyOwner``). Keys are unique among the rows of
    /// each such entity and its subentities. Most hierarchies have one.
    private var keyOwners: [Int] = []
    private var indexes: [KeyIndex] = []
    private var nodeByOwner: [OwnerLink: NodeID] = [:]
    /// A number for each value in `slots`, higher for a later value. It is only needed in a table with rows that owners
    /// identify, because ``absorb(_:into:)`` can unite their nodes. The array is empty until it is needed.
    private var times: [UInt32] = []
    private var lastTime: UInt32 = 0
    /// The number of nodes after the first half of the sample that estimates the size.
    private var halfCount = 0

    /// Whether one entity declares the keys of all nodes with keys, so that a key alone identifies a node.
    package var hasOneSetOfKeys: Bool { keyOwners.count == 1 }

    /// Returns whether any node has a primary key that this entity declares (``CompiledEntity/keyOwner``).
    package func hasKeys(of keyOwner: Int) -> Bool { keyOwners.contains(keyOwner) }

    init(slotCount: Int, firstSlot: Int = 0) {
        self.firstSlot = firstSlot
        stride = slotCount - firstSlot
    }

    init(_ hierarchy: EntityHierarchy) {
        self.init(slotCount: hierarchy.attributes.count, firstSlot: hierarchy.keySlot == 0 ? 1 : 0)
    }

    /// Returns the indexes of a version's values in `slots`.
    package func indexes(ofVersion version: Int) -> Range<Int> { version * stride..<(version + 1) * stride }

    /// Returns the values of a record that a version stores.
    func storedValues(of record: UnsafeBufferPointer<PackedValue>) -> UnsafeBufferPointer<PackedValue> {
        UnsafeBufferPointer(rebasing: record[firstSlot..<firstSlot + stride])
    }

    /// Returns the node whose key is text that is not in the payload, such as a column value; nil if there is none.
    package func node(forText text: UnsafeBufferPointer<UInt8>, keyOwner: Int, _ pool: TextPool) -> NodeID? {
        guard let index = keyOwners.firstIndex(of: keyOwner) else { return nil }
        return indexes[index].node(forText: text, in: nodes, pool)
    }

    /// Returns the node of a key; nil if there is none. `guess` is tried first, because stored rows often have the
    /// order of the payload.
    package func node(forKey key: PackedValue, keyOwner: Int, _ pool: TextPool, guess: NodeID? = nil) -> NodeID? {
        if let guess, guess.index < nodes.count, pool.isSameKey(nodes[guess.index].key, key), keyOwners.count == 1 {
            return guess
        }
        guard let index = keyOwners.firstIndex(of: keyOwner) else { return nil }
        return indexes[index].node(for: key, hash: pool.hash(key), in: nodes, pool)
    }

    mutating func node(
        forKey key: PackedValue, keyOwner: Int, entity: Int, _ pool: TextPool
    ) -> (node: NodeID, isNew: Bool) {
        let hash = pool.hash(key)
        let index = self.keyIndex(of: keyOwner)
        if let known = indexes[index].node(for: key, hash: hash, in: nodes, pool) { return (known, false) }
        let node = NodeID(nodes.count)
        nodes.append(Node(key: key, entity: entity))
        if indexes[index].isFull { indexes[index].grow(nodes, pool) }
        indexes[index].insert(node, hash: hash)
        return (node, true)
    }

    /// Prefetches the bucket of an integer key, if the batch has one index. The function is mutating so that the call
    /// does not copy a batch that is in an array.
    @inline(__always)
    mutating func prefetch(_ key: PackedValue) {
        if indexes.count == 1 { indexes[0].prefetch(hash: TextPool.mix(key.bits)) }
    }

    private mutating func keyIndex(of keyOwner: Int) -> Int {
        if let index = keyOwners.firstIndex(of: keyOwner) { return index }
        keyOwners.append(keyOwner)
        indexes.append(KeyIndex())
        return keyOwners.count - 1
    }

    mutating func node(ownedBy owner: OwnerLink, entity: Int) -> (node: NodeID, isNew: Bool) {
        if let known = nodeByOwner[owner] { return (known, false) }
        let node = NodeID(nodes.count)
        nodeByOwner[owner] = node
        owners.append(owner)
        nodes.append(Node(owner: owners.count - 1, entity: entity))
        return (node, true)
    }

    mutating func setEntity(_ entity: Int, of node: NodeID) {
        nodes[node.index].entity = Int16(truncatingIfNeeded: entity)
    }

    mutating func setRoot(_ node: NodeID) { nodes[node.index].isRoot = true }

    /// Adds a record's values to a node: as a new version, or merged into its last version. In a merge, values replace
    /// earlier ones, except absent values.
    ///
    /// - Parameter record: The values of all slots.
    mutating func merge(
        _ record: UnsafeBufferPointer<PackedValue>, into node: NodeID, permission: AllowedOperations, occurrence: Int32
    ) {
        let row = storedValues(of: record)
        let first = Int(nodes[node.index].firstVersion)
        if versions.isEmpty {
            if occurrence < 0, self.permission ?? permission == permission {
                self.permission = permission
                return first < 0 ? addVersion(row, of: node) : merge(row, intoVersion: first)
            }
            versions = (0..<versionCount).map {
                Version(permission: self.permission ?? permission, last: Int32(truncatingIfNeeded: $0))
            }
        }
        let last = first < 0 ? -1 : Int(versions[first].last)
        if last >= 0, versions[last].permission == permission, occurrence < 0 { return merge(row, intoVersion: last) }
        let version = Int32(truncatingIfNeeded: versionCount)
        versions.append(Version(permission: permission, last: version, occurrence: occurrence))
        addVersion(row, of: node)
        guard last >= 0 else { return }
        versions[last].next = version
        versions[first].last = version
    }

    private mutating func merge(_ row: UnsafeBufferPointer<PackedValue>, intoVersion version: Int) {
        for slot in 0..<stride where row[slot].kind != .absent { slots[version * stride + slot] = row[slot] }
        guard !owners.isEmpty else { return }
        initializeTimes()
        lastTime += 1
        for slot in 0..<stride where row[slot].kind != .absent { times[version * stride + slot] = lastTime }
    }

    /// Sets the initial times. Until the first merge, the time of each value is the number of its version.
    private mutating func initializeTimes() {
        guard times.isEmpty else { return }
        times.reserveCapacity(slots.count)
        for version in 0..<versionCount {
            for _ in 0..<stride { times.append(UInt32(truncatingIfNeeded: version)) }
        }
        lastTime = UInt32(truncatingIfNeeded: versionCount)
    }

    /// Adds a version of a node. It becomes the node's first version if the node has none.
    private mutating func addVersion(_ row: UnsafeBufferPointer<PackedValue>, of node: NodeID) {
        if !nodes[node.index].isGiven { nodes[node.index].firstVersion = Int32(truncatingIfNeeded: versionCount) }
        slots.append(contentsOf: row)
        versionCount += 1
        guard !times.isEmpty else { return }
        lastTime += 1
        for _ in 0..<stride { times.append(lastTime) }
    }

    /// Returns the next version of the same node in document order; -1 if there is none.
    package func version(after version: Int32) -> Int32 { versions.isEmpty ? -1 : versions[Int(version)].next }

    /// Returns the occurrence of the record with a version's values; -1 if occurrences are not tracked.
    package func occurrence(ofVersion version: Int32) -> Int32 {
        versions.isEmpty ? -1 : versions[Int(version)].occurrence
    }

    /// Moves the versions of a node to another node of the same row. If occurrences are not tracked, the versions are
    /// merged, and later values replace earlier ones.
    mutating func absorb(_ node: NodeID, into other: NodeID) {
        var chain = (versionChain(other) + versionChain(node)).sorted()
        nodes[node.index].firstVersion = -1
        guard let first = chain.first else { return }
        nodes[other.index].firstVersion = first
        if occurrence(ofVersion: first) < 0 {
            initializeTimes()
            for version in chain.dropFirst() { copyLaterValues(version, into: first) }
            chain = [first]
        }
        guard !versions.isEmpty, let last = chain.last else { return }
        for (version, next) in zip(chain, chain.dropFirst()) { versions[Int(version)].next = next }
        versions[Int(last)].next = -1
        versions[Int(first)].last = last
    }

    /// Copies the values of a version to another version, where they are later or the other version has none.
    private mutating func copyLaterValues(_ version: Int32, into other: Int32) {
        for slot in 0..<stride {
            let (from, to) = (Int(version) * stride + slot, Int(other) * stride + slot)
            guard slots[from].kind != .absent, slots[to].kind == .absent || times[from] > times[to] else { continue }
            slots[to] = slots[from]
            times[to] = times[from]
        }
    }

    private func versionChain(_ node: NodeID) -> [Int32] {
        Array(sequence(first: nodes[node.index].firstVersion) { version(after: $0) }.prefix { $0 >= 0 })
    }

    mutating func setOwner(_ node: NodeID, at index: Int) { owners[index].node = node }

    mutating func recordSize() { halfCount = nodes.count }

    /// Reserves capacity for a payload `factor` times as large as the sample.
    ///
    /// Only the growth in the second half of the sample is extrapolated. Many records share rows such as tags, so new
    /// nodes for them become rarer.
    mutating func reserve(_ factor: Double) {
        guard !nodes.isEmpty else { return }
        let count = nodes.count + Int(Double((nodes.count - halfCount) * 2) * (factor - 1))
        nodes.reserve(count)
        let versionCount = Int(Double(versionCount) * Double(count) / Double(nodes.count))
        slots.reserve(versionCount * stride)
        if !versions.isEmpty { versions.reserve(versionCount) }
        for index in indexes.indices { indexes[index].reserve(count) }
    }

    /// Frees the storage that only mapping needs.
    mutating func finish() { nodeByOwner = [:] }
}

/// The index of a node in ``NodeBatch/nodes``.
@usableFromInline
package struct NodeID: Hashable, Comparable, Sendable {
    /// The index as it is stored. Other modules read a stored property without a call, which matters in loops over
    /// millions of rows.
    @usableFromInline package let number: Int32

    @inlinable package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    @inlinable package var index: Int { Int(number) }

    @inlinable package static func < (left: NodeID, right: NodeID) -> Bool { left.number < right.number }
}

/// A hash table from keys to the nodes of a batch, with five bytes for each bucket.
package struct KeyIndex: Sendable {
    /// The tag of each bucket: 0 for a free bucket, otherwise seven bits of the hash with the highest bit set.
    private var tags: [UInt8] = Array(repeating: 0, count: 16)
    private var nodes: [NodeID] = Array(repeating: NodeID(0), count: 16)
    private var mask = 15
    private var count = 0
    /// The smallest mask after the next growth, from the reserved capacity.
    private var reserved = 15

    package init() {}

    /// Returns the node with this key; nil if there is none.
    @inline(__always)
    package func node(for key: PackedValue, hash: UInt64, in nodes: [NodeBatch.Node], _ pool: TextPool) -> NodeID? {
        node(hash: hash) { pool.isSameKey(nodes[$0].key, key) }
    }

    /// Returns the node whose key is this text; nil if there is none.
    func node(forText text: UnsafeBufferPointer<UInt8>, in nodes: [NodeBatch.Node], _ pool: TextPool) -> NodeID? {
        node(hash: TextPool.hash(text)) { TextPool.equal(pool.bytes(nodes[$0].key), text) }
    }

    @inline(__always)
    private func node(hash: UInt64, where isKey: (Int) -> Bool) -> NodeID? {
        let wanted = Self.tag(hash)
        var bucket = firstBucket(hash)
        while true {
            let tag = tags[bucket]
            if tag == 0 { return nil }
            if tag == wanted {
                let node = nodes[bucket]
                if isKey(node.index) { return node }
            }
            bucket = (bucket + 1) & mask
        }
    }

    /// Whether the table must grow before the next insertion.
    @inline(__always)
    var isFull: Bool { mask < reserved || Self.isFull(count, mask) }

    /// Adds a node whose key is not in the table yet.
    @inline(__always)
    mutating func insert(_ node: NodeID, hash: UInt64) {
        insertIntoBucket(node, hash)
        count += 1
    }

    @inline(__always)
    private mutating func insertIntoBucket(_ node: NodeID, _ hash: UInt64) {
        var bucket = firstBucket(hash)
        while tags[bucket] != 0 { bucket = (bucket + 1) & mask }
        tags[bucket] = Self.tag(hash)
        nodes[bucket] = node
    }

    @inline(__always)
    private func firstBucket(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) & mask }

    @inline(__always)
    private static func tag(_ hash: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: hash) | 0x80 }

    /// Prefetches the bucket of a key that will be looked up soon. Buckets are random, so this hides a cache miss.
    @inline(__always)
    func prefetch(hash: UInt64) {
        let bucket = firstBucket(hash)
        tags.withUnsafeBufferPointer { tags in tags.baseAddress.map { sync_prefetch($0 + bucket) } }
        nodes.withUnsafeBufferPointer { nodes in nodes.baseAddress.map { sync_prefetch($0 + bucket) } }
    }

    /// Reserves capacity for a number of keys. If the table must grow, it grows when the next key is added.
    mutating func reserve(_ count: Int) {
        while Self.isFull(count, reserved) { reserved = reserved * 2 + 1 }
    }

    /// Returns whether at least four fifths of the buckets are used.
    @inline(__always)
    private static func isFull(_ count: Int, _ mask: Int) -> Bool { count * 5 >= mask * 4 }

    /// Grows the table, to the reserved capacity at least, and inserts its nodes again.
    mutating func grow(_ batch: [NodeBatch.Node], _ pool: TextPool) {
        let (oldTags, oldNodes) = (tags, nodes)
        // Growing hashes all keys again, so small tables grow fourfold.
        mask = max(mask < 1 << 14 ? mask * 4 + 3 : mask * 2 + 1, reserved)
        reserved = mask
        tags = Array(repeating: 0, count: mask + 1)
        nodes = Array(unsafeUninitializedCapacity: mask + 1) { nodes, count in
            if let base = nodes.baseAddress {
                HugePages.advise(base, byteCount: nodes.count * MemoryLayout<NodeID>.stride)
            }
            nodes.initialize(repeating: NodeID(0))
            count = nodes.count
        }
        for bucket in oldTags.indices where oldTags[bucket] != 0 {
            let node = oldNodes[bucket]
            insertIntoBucket(node, pool.hash(batch[node.index].key))
        }
    }
}
