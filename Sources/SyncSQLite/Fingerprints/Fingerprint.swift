import SyncCore

/// What a store remembers of a root record whose every statement it satisfies.
struct Fingerprint: Equatable {
    var hash: RecordHash
    /// The row of the record itself, as one of the places it speaks of.
    var root: UInt64
    /// How many bytes the record has.
    var length: UInt32
    /// Its keys that nothing takes, by their place in the set.
    var unmapped: Int32
    /// Where what it speaks of is, among the places of all.
    var places: Range<Int>
}

extension Fingerprint {
    static let wordCount = 4
    private static let maximumPlaces = 1 << 20
    static let maximumUnmapped = 1 << 12

    /// Whether it can be stored.
    var fits: Bool { places.count < Self.maximumPlaces && unmapped < Self.maximumUnmapped }

    /// As it is stored.
    func append(to words: inout [UInt64]) {
        words.append(hash.low)
        words.append(hash.high)
        words.append(root)
        words.append(UInt64(length) << 32 | UInt64(places.count) << 12 | UInt64(unmapped))
    }

    /// As it was stored; its places begin where those before it end.
    init(_ low: UInt64, _ high: UInt64, _ root: UInt64, _ packed: UInt64, placesFrom start: Int) {
        hash = RecordHash(low: low, high: high)
        self.root = root
        length = UInt32(truncatingIfNeeded: packed >> 32)
        unmapped = Int32(packed & 0xFFF)
        places = start..<start + Int(packed >> 12 & 0xFFFFF)
    }
}
