package import Foundation
package import SyncCore

/// The row keys (``RowKey``) of nodes that their records do not give: surrogate keys, and keys of rows that were
/// matched through their owners or are new.
package struct NodeRowKeys: Sendable {
    /// Whether the table has surrogate keys. If so, the keys of all matched and new nodes are stored here.
    private let areSurrogates: Bool
    private var surrogates = SurrogateKeys()
    private var keys: [NodeID: RowKey] = [:]
    private var owned: [RowKey: NodeID] = [:]
    /// Whether a node was matched through its owner, or got a new key.
    package private(set) var hasOwned = false

    init(areSurrogates: Bool) { self.areSurrogates = areSurrogates }

    package subscript(node: NodeID) -> RowKey? {
        areSurrogates ? surrogates[node].map { .integer($0) } : keys[node]
    }

    package func node(ofSurrogate key: Int64) -> NodeID? { surrogates.node(of: key) }

    /// Returns the node with a row key, if it was matched through its owner or got a new key. In a table with surrogate
    /// keys, returns the node in any case.
    package func owned(_ key: RowKey) -> NodeID? {
        guard areSurrogates else { return owned[key] }
        guard case .integer(let number) = key else { return nil }
        return surrogates.node(of: number)
    }

    package var isEmpty: Bool { areSurrogates ? surrogates.isEmpty : keys.isEmpty }

    /// Records the surrogate key of a matched node.
    package mutating func match(_ node: NodeID, surrogate key: Int64) { surrogates.insert(node, key) }

    /// Records the key of a node that was matched through its owner, or of a new node.
    mutating func own(_ node: NodeID, _ key: RowKey) {
        hasOwned = true
        if areSurrogates {
            if case .integer(let number) = key { surrogates.insert(node, number) }
        } else {
            keys[node] = key
            owned[key] = node
        }
    }

    /// Records that a node matched the row of another node.
    mutating func assign(_ key: RowKey, to node: NodeID) {
        guard areSurrogates else { return keys[node] = key }
        if case .integer(let number) = key { surrogates.assign(number, to: node) }
    }

    mutating func remove(_ node: NodeID) {
        if areSurrogates { surrogates.remove(node) } else { keys[node] = nil }
    }
}

/// The surrogate keys of nodes, in both directions. Every row of the table has one, so both lookups must be fast.
struct SurrogateKeys: Sendable {
    /// The key of each node; ``none`` for a node without a key. SQLite never assigns `Int64.min` as a key.
    private var keys: [Int64] = []
    /// A hash table of nodes by their keys; -1 for an empty bucket.
    private var buckets: [Int32] = []
    /// The number of used buckets, including those of removed nodes.
    private var usedBuckets = 0

    private let secret = KeySecret.ofProcess

    private static let none = Int64.min

    var isEmpty: Bool { keys.isEmpty }

    subscript(node: NodeID) -> Int64? {
        guard node.index < keys.count, keys[node.index] != Self.none else { return nil }
        return keys[node.index]
    }

    func node(of key: Int64) -> NodeID? {
        guard !buckets.isEmpty, key != Self.none else { return nil }
        let known = buckets[bucket(of: key)]
        return known < 0 ? nil : NodeID(Int(known))
    }

    /// Sets the key of a node. ``node(of:)`` then returns this node for the key.
    mutating func insert(_ node: NodeID, _ key: Int64) {
        assign(key, to: node)
        if (usedBuckets + 1) * 2 > buckets.count { grow() }
        let bucket = bucket(of: key)
        if buckets[bucket] < 0 { usedBuckets += 1 }
        buckets[bucket] = Int32(node.index)
    }

    /// Sets the key of a node whose row has another node already. ``node(of:)`` still returns the other node.
    mutating func assign(_ key: Int64, to node: NodeID) {
        if node.index >= keys.count {
            // Nodes mostly arrive in order, so the array grows in large steps.
            let count = max(node.index + 1, keys.count * 2, 16)
            keys += repeatElement(Self.none, count: count - keys.count)
        }
        keys[node.index] = key
    }

    mutating func remove(_ node: NodeID) { if node.index < keys.count { keys[node.index] = Self.none } }

    // MARK: Hash table

    /// Returns the bucket of a key, or the empty bucket for it.
    private func bucket(of key: Int64) -> Int {
        let mask = buckets.count - 1
        // Mixing moves consecutive keys to distant buckets.
        var bucket = Int(truncatingIfNeeded: secret.mix(UInt64(bitPattern: key)) >> 32) & mask
        while buckets[bucket] >= 0, keys[Int(buckets[bucket])] != key { bucket = (bucket + 1) & mask }
        return bucket
    }

    private mutating func grow() {
        let known = buckets.filter { $0 >= 0 && keys[Int($0)] != Self.none }
        buckets = Array(repeating: -1, count: max(16, buckets.count * 2))
        usedBuckets = known.count
        for node in known { buckets[bucket(of: keys[Int(node)])] = node }
    }
}

/// Keys for rows that have no remote ID yet.
package enum TemporaryKey {
    /// All integer keys below this bound are temporary.
    package static let integerBound: Int64 = -(1 << 62)
    /// The prefix of temporary text keys. A UUID follows.
    package static let prefix = "local-"
    /// The number of hexadecimal digits of each part of the UUID. Hyphens separate the parts.
    package static let digits = [8, 4, 4, 4, 12]

    /// Returns a new text key.
    package static func text(_ uuid: UUID = UUID()) -> String { prefix + uuid.uuidString }

    /// Returns whether a text is a temporary key. The SQL conditions for temporary keys use the same constants.
    package static func isLocal(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        guard rest.starts(with: prefix.utf8) else { return false }
        rest = rest.dropFirst(prefix.utf8.count)
        let parts = rest.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == digits
            && parts.joined().allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
    }
}

extension RowKey {
    /// Whether the key is a temporary key.
    package var isLocal: Bool {
        switch self {
        case .integer(let value): value < TemporaryKey.integerBound
        case .text(let text): TemporaryKey.isLocal(text)
        case .real: false
        }
    }
}

/// A sorter of integer keys.
package enum KeySorter {
    /// Returns the indexes that sort keys in ascending order; empty if the keys are in order. The sort is stable.
    ///
    /// The algorithm is a radix sort with eleven bits a pass, because the range of the keys mostly needs few bits.
    package static func ascending(_ keys: [Int64]) -> [Int32] {
        guard let first = keys.first else { return [] }
        var (low, high, isSorted, last) = (first, first, true, first)
        for key in keys {
            if key < last { isSorted = false }
            last = key
            low = min(low, key)
            high = max(high, key)
        }
        if isSorted { return [] }
        let span = UInt64(bitPattern: high &- low)
        var order = keys.indices.map { Int32(truncatingIfNeeded: $0) }
        var sorted = order
        var shift: UInt64 = 0
        while shift < 64, span >> shift > 0 {
            var starts = Array(repeating: 0, count: 2049)
            for key in keys { starts[digit(key, low, shift) + 1] += 1 }
            for index in 1..<starts.count { starts[index] += starts[index - 1] }
            for index in order {
                let digit = digit(keys[Int(index)], low, shift)
                sorted[starts[digit]] = index
                starts[digit] += 1
            }
            swap(&order, &sorted)
            shift += 11
        }
        return order
    }

    @inline(__always)
    private static func digit(_ key: Int64, _ low: Int64, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key &- low) >> shift) & 2047)
    }
}

// MARK: - RowKey+Order

extension RowKey {
    /// Returns whether a key precedes another one in the order of a column: numbers, then text by bytes.
    func precedes(_ other: RowKey) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.text, _): false
        case (_, .text): true
        case (.integer(let left), .real(let right)): Double(left) < right
        case (.real(let left), .integer(let right)): left < Double(right)
        }
    }
}
