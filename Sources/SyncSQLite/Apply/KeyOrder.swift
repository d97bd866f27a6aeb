/// Nodes in the order of their integer keys, to meet rows that come in that order.
struct KeyOrder {
    /// The keys, ascending.
    private let keys: [Int64]
    /// The node of each key; empty if the nodes are in this order already.
    private let nodes: [Int32]
    private var position = 0

    init(_ keys: [Int64]) {
        nodes = Self.ascending(keys)
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

    /// The places of keys in ascending order, equal ones in theirs; empty if the keys ascend already.
    ///
    /// A radix sort, eleven bits at a time: keys mostly span few of them.
    static func ascending(_ keys: [Int64]) -> [Int32] {
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
