/// The rows of one inheritance tree that a payload mentions, one node per row.
///
/// Values are in `slots`, `stride` to a version; a node has one version unless parts of the payload have
/// different permissions (``SyncOperations``), which only the store can weigh up.
package struct RowBatch: Sendable {
    /// A row as the payload mentions it.
    package struct Node: Sendable {
        /// The primary key; absent for a row that is known only by its owner (``Owner``).
        package var key: Slot
        /// The most specific entity it was mentioned as.
        package var entity: Int16
        /// Whether a root record gives it.
        package var isRoot = false
        /// Its first and last version in document order; -1 if it is mentioned only by id.
        package var firstVersion: Int32 = -1
        package var lastVersion: Int32 = -1
        /// Its place in `owners`, or -1.
        package var owner: Int32 = -1
    }

    /// What identifies a row without a key: who owns it, through which link, at which position.
    package struct Owner: Sendable, Hashable {
        package var link: Int32
        /// The end of the link at which the owner is.
        package var end: Link.End
        package var tree: Int32
        package var node: Int32
        package var position: Int32
    }

    /// What one part of the payload says of a row.
    package struct Version: Sendable {
        package var permission: Permission
        package var next: Int32 = -1
        /// The mention that began it; -1 where mentions are not tracked.
        package var mention: Int32 = -1
    }

    package let stride: Int
    package private(set) var nodes: [Node] = []
    package private(set) var slots: [Slot] = []
    package private(set) var versions: [Version] = []
    package private(set) var owners: [Owner] = []
    /// One set of keys for each topmost entity that declares one; a tree has few, mostly one.
    private var keyOwners: [Int] = []
    private var indexes: [KeyIndex] = []
    private var nodeByOwner: [Owner: Int32] = [:]
    /// How many nodes half of a sample has.
    private var halfCount = 0

    /// Whether a key alone says which row is meant.
    package var hasOneSetOfKeys: Bool { keyOwners.count == 1 }

    init(stride: Int) { self.stride = stride }

    /// The node of a key given as text that is not in the payload, such as a column's.
    package func node(forText text: UnsafeBufferPointer<UInt8>, keyOwner: Int, _ pool: TextPool) -> Int? {
        guard let place = keyOwners.firstIndex(of: keyOwner) else { return nil }
        return indexes[place].node(forText: text, in: nodes, pool)
    }

    /// The node of a key. `guess` is tried first: rows often come in the order of the payload.
    package func node(forKey key: Slot, keyOwner: Int, _ pool: TextPool, guess: Int = -1) -> Int? {
        if guess >= 0, guess < nodes.count, pool.isSameKey(nodes[guess].key, key), keyOwners.count == 1 { return guess }
        guard let place = keyOwners.firstIndex(of: keyOwner) else { return nil }
        return indexes[place].node(for: key, hash: pool.hash(key), in: nodes, pool)
    }

    mutating func node(
        forKey key: Slot, keyOwner: Int, entity: Int, _ pool: TextPool
    ) -> (node: Int, isNew: Bool) {
        let hash = pool.hash(key)
        let place = self.place(of: keyOwner)
        if let known = indexes[place].node(for: key, hash: hash, in: nodes, pool) { return (known, false) }
        nodes.append(Node(key: key, entity: Int16(truncatingIfNeeded: entity)))
        indexes[place].insert(nodes.count - 1, hash: hash)
        return (nodes.count - 1, true)
    }

    /// Asks for the place of an integer key in the index, where it will be looked up soon.
    @inline(__always)
    func prefetch(_ key: Slot) {
        if indexes.count == 1 { indexes[0].prefetch(hash: TextPool.mix(key.bits)) }
    }

    private mutating func place(of keyOwner: Int) -> Int {
        if let place = keyOwners.firstIndex(of: keyOwner) { return place }
        keyOwners.append(keyOwner)
        indexes.append(KeyIndex())
        return keyOwners.count - 1
    }

    mutating func node(ownedBy owner: Owner, entity: Int) -> (node: Int, isNew: Bool) {
        if let known = nodeByOwner[owner] { return (Int(known), false) }
        nodeByOwner[owner] = Int32(truncatingIfNeeded: nodes.count)
        owners.append(owner)
        nodes.append(
            Node(
                key: .absent, entity: Int16(truncatingIfNeeded: entity),
                owner: Int32(truncatingIfNeeded: owners.count - 1)))
        return (nodes.count - 1, true)
    }

    mutating func setEntity(_ entity: Int, of node: Int) { nodes[node].entity = Int16(truncatingIfNeeded: entity) }
    mutating func markRoot(_ node: Int) { nodes[node].isRoot = true }

    /// Merges a record's values into a node: later values over earlier ones, absent ones
    /// leave them.
    mutating func merge(_ row: UnsafeBufferPointer<Slot>, into node: Int, permission: Permission, mention: Int32) {
        let last = Int(nodes[node].lastVersion)
        if last >= 0, versions[last].permission == permission, mention < 0 {
            for slot in 0..<stride where row[slot].kind != .absent { slots[last * stride + slot] = row[slot] }
            return
        }
        let version = Int32(truncatingIfNeeded: versions.count)
        versions.append(Version(permission: permission, mention: mention))
        slots.append(contentsOf: row)
        if last >= 0 { versions[last].next = version } else { nodes[node].firstVersion = version }
        nodes[node].lastVersion = version
    }

    /// Moves what was said of one node to another, because both turned out to be the same row. What comes later in the
    /// document wins.
    mutating func absorb(_ node: Int, into other: Int) {
        let taken = versionChain(node)
        nodes[node].firstVersion = -1
        nodes[node].lastVersion = -1
        let kept = versionChain(other)
        let all = (kept + taken).sorted()
        guard let first = all.first, let last = all.last else { return }
        if versions[first].mention < 0 {
            for version in all.dropFirst() {
                for slot in 0..<stride where slots[version * stride + slot].kind != .absent {
                    slots[first * stride + slot] = slots[version * stride + slot]
                }
            }
            nodes[other].firstVersion = Int32(truncatingIfNeeded: first)
            nodes[other].lastVersion = Int32(truncatingIfNeeded: first)
            return
        }
        for (version, next) in zip(all, all.dropFirst()) { versions[version].next = Int32(truncatingIfNeeded: next) }
        versions[last].next = -1
        nodes[other].firstVersion = Int32(truncatingIfNeeded: first)
        nodes[other].lastVersion = Int32(truncatingIfNeeded: last)
    }

    private func versionChain(_ node: Int) -> [Int] {
        var chain: [Int] = []
        var version = Int(nodes[node].firstVersion)
        while version >= 0 {
            chain.append(version)
            version = Int(versions[version].next)
        }
        return chain
    }

    mutating func setOwner(_ node: Int32, of place: Int) { owners[place].node = node }

    mutating func noteSize() { halfCount = nodes.count }

    /// Makes room for a payload that is `factor` times as large as what was mapped. Rows that many records share, such
    /// as tags, become fewer as it goes on, so that the second half of the sample tells.
    mutating func reserve(_ factor: Double) {
        guard !nodes.isEmpty else { return }
        let count = nodes.count + Int(Double((nodes.count - halfCount) * 2) * (factor - 1))
        nodes.reserve(count)
        let versions = Int(Double(versions.count) * Double(count) / Double(nodes.count))
        slots.reserve(versions * stride)
        self.versions.reserve(versions)
        for place in indexes.indices { indexes[place].reserve(count) }
    }

    /// Frees what only staging needs.
    mutating func finish() { nodeByOwner = [:] }
}
