import Foundation
package import SyncCore

/// The row keys of nodes that do not have them in their slot: hidden keys, and those of rows without a key of their own.
package struct NodeRowKeys: Sendable {
    /// Whether the table's rows have hidden keys: then they are all here.
    private let areHidden: Bool
    private var hidden = HiddenKeys()
    private var keys: [NodeID: RowKey] = [:]
    private var owned: [RowKey: NodeID] = [:]
    /// Whether a node met its row through its owner, or was given a key.
    package private(set) var hasOwned = false

    init(areHidden: Bool) { self.areHidden = areHidden }

    package subscript(node: NodeID) -> RowKey? {
        areHidden ? hidden[node].map { .integer($0) } : keys[node]
    }

    package func node(ofHidden key: Int64) -> NodeID? { hidden.node(of: key) }

    /// The node that met its row through its owner, or was given a key; of hidden keys any node.
    package func owned(_ key: RowKey) -> NodeID? {
        guard areHidden else { return owned[key] }
        guard case .integer(let number) = key else { return nil }
        return hidden.node(of: number)
    }

    package var isEmpty: Bool { areHidden ? hidden.isEmpty : keys.isEmpty }

    /// A node of a table with hidden keys met its row.
    package mutating func meet(_ node: NodeID, hidden key: Int64) { hidden.insert(node, key) }

    /// A node met its row through its owner, or a new one was given its key.
    mutating func own(_ node: NodeID, _ key: RowKey) {
        hasOwned = true
        if areHidden {
            if case .integer(let number) = key { hidden.insert(node, number) }
        } else {
            keys[node] = key
            owned[key] = node
        }
    }

    /// A node met the row of another one.
    mutating func lend(_ key: RowKey, to node: NodeID) {
        guard areHidden else { return keys[node] = key }
        if case .integer(let number) = key { hidden.lend(number, to: node) }
    }

    mutating func forget(_ node: NodeID) {
        if areHidden { hidden.forget(node) } else { keys[node] = nil }
    }
}

/// The hidden keys of a table's nodes, both ways. Each row of such a table has one, so neither way may cost much.
struct HiddenKeys: Sendable {
    /// By node; SQLite gives no row the smallest number there is.
    private var keys: [Int64] = []
    /// The nodes in places by the hashes of their keys, -1 where there is none.
    private var places: [Int32] = []
    /// Places that are taken, also by nodes that were forgotten.
    private var taken = 0

    private let secret = KeySecret.ofProcess

    private static let none = Int64.min

    var isEmpty: Bool { keys.isEmpty }

    subscript(node: NodeID) -> Int64? {
        guard node.index < keys.count, keys[node.index] != Self.none else { return nil }
        return keys[node.index]
    }

    func node(of key: Int64) -> NodeID? {
        guard !places.isEmpty, key != Self.none else { return nil }
        let known = places[place(of: key)]
        return known < 0 ? nil : NodeID(Int(known))
    }

    /// A node's row is the one of a key.
    mutating func insert(_ node: NodeID, _ key: Int64) {
        lend(key, to: node)
        if (taken + 1) * 2 > places.count { grow() }
        let place = place(of: key)
        if places[place] < 0 { taken += 1 }
        places[place] = Int32(node.index)
    }

    /// A node has the key of another one's row.
    mutating func lend(_ key: Int64, to node: NodeID) {
        if node.index >= keys.count {
            // Mostly nodes come in their order: room for one more at a time would be made often.
            let count = max(node.index + 1, keys.count * 2, 16)
            keys += repeatElement(Self.none, count: count - keys.count)
        }
        keys[node.index] = key
    }

    mutating func forget(_ node: NodeID) { if node.index < keys.count { keys[node.index] = Self.none } }

    // MARK: Places

    /// Where a key is, or would be.
    private func place(of key: Int64) -> Int {
        let mask = places.count - 1
        // Keys that follow each other come to places far apart.
        var place = Int(truncatingIfNeeded: secret.mix(UInt64(bitPattern: key)) >> 32) & mask
        while places[place] >= 0, keys[Int(places[place])] != key { place = (place + 1) & mask }
        return place
    }

    private mutating func grow() {
        let known = places.filter { $0 >= 0 && keys[Int($0)] != Self.none }
        places = Array(repeating: -1, count: max(16, places.count * 2))
        taken = known.count
        for node in known { places[place(of: keys[Int(node)])] = node }
    }
}

/// Keys made here for rows that have none of the service's yet.
package enum TemporaryKey {
    /// Every integer key below this is local.
    package static let integerBound: Int64 = -(1 << 62)
    /// How a local text key begins. A UUID follows.
    package static let prefix = "local-"
    /// How many hexadecimal digits the parts of the UUID have. Hyphens separate the parts.
    package static let digits = [8, 4, 4, 4, 12]

    package static func text() -> String { prefix + UUID().uuidString }

    /// Whether a text is a local key: all that decides so in another way, as a condition in SQL, is made of the same parts.
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
    /// Whether it was made here, because the row has no remote key yet.
    package var isLocal: Bool {
        switch self {
        case .integer(let value): value < TemporaryKey.integerBound
        case .text(let text): TemporaryKey.isLocal(text)
        case .real: false
        }
    }
}

/// Puts integer keys in order.
package enum KeySorter {
    /// The places of keys in ascending order, equal ones in theirs; empty if the keys ascend already.
    ///
    /// A radix sort, eleven bits at a time: keys mostly span few of them.
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
        var places = keys.indices.map { Int32(truncatingIfNeeded: $0) }
        var sorted = places
        var shift: UInt64 = 0
        while shift < 64, span >> shift > 0 {
            var starts = Array(repeating: 0, count: 2049)
            for key in keys { starts[digit(key, low, shift) + 1] += 1 }
            for index in 1..<starts.count { starts[index] += starts[index - 1] }
            for place in places {
                let digit = digit(keys[Int(place)], low, shift)
                sorted[starts[digit]] = place
                starts[digit] += 1
            }
            swap(&places, &sorted)
            shift += 11
        }
        return places
    }

    @inline(__always)
    private static func digit(_ key: Int64, _ low: Int64, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key &- low) >> shift) & 2047)
    }
}

// MARK: - RowKey+Order

extension RowKey {
    /// The order of keys in a column: numbers, then texts by their bytes.
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
