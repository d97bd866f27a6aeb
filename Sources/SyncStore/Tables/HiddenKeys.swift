import SyncCore

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
