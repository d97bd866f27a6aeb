/// Puts integer keys in order.
package enum KeyOrder {
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
