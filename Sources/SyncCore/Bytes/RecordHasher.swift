/// Hashes the bytes of records and the keys of rows, differently for every seed.
///
/// Two chains of 64 × 64 → 128 bit products run over the same words with secrets of their own; each folds its product to
/// 64 bits. Records that collide cannot be prepared by someone who does not know the seed, and two given records do so
/// once in about 2¹²⁸.
package struct RecordHasher: Sendable, Hashable {
    /// What a store keeps of it.
    package let seed: RecordHash
    private let first: UInt64
    private let second: UInt64

    package init(seed: RecordHash) {
        self.seed = seed
        // The secrets must not be what the chains begin with.
        first = Self.fold(seed.low ^ 0xA076_1D64_78BD_642F, seed.high ^ 0xE703_7ED1_A0B4_28DB) | 1
        second = Self.fold(seed.high ^ 0x8EBC_6AF0_9C88_C6E3, seed.low ^ 0x5899_65CC_7537_4CC3) | 1
    }

    /// One with a new seed.
    package static func random() -> RecordHasher {
        RecordHasher(seed: RecordHash(low: .random(in: .min ... .max), high: .random(in: .min ... .max)))
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    // MARK: Records

    /// The hash of some bytes.
    package func hash(_ bytes: UnsafeRawBufferPointer) -> RecordHash {
        var low = seed.low
        var high = seed.high
        var index = 0
        while index + 16 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let right = bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self)
            low = Self.fold(left ^ first, right ^ low)
            high = Self.fold(right ^ second, left ^ high)
            index += 16
        }
        var rest: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &rest) { $0.copyBytes(from: bytes[index...]) }
        let count = UInt64(truncatingIfNeeded: bytes.count)
        low = Self.fold(rest.0 ^ first, rest.1 ^ low)
        high = Self.fold(rest.1 ^ second, rest.0 ^ high)
        return RecordHash(low: Self.fold(low ^ count, second), high: Self.fold(high ^ count, first))
    }

    // MARK: Keys

    /// The hash of a number at a place.
    @inline(__always)
    package func hash(_ bits: UInt64, at place: Int) -> UInt64 {
        let mixed = Self.fold(bits ^ first, UInt64(truncatingIfNeeded: place) ^ seed.low)
        return Self.fold(mixed ^ second, bits ^ seed.high)
    }

    /// The hash of a text at a place.
    package func hash(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> UInt64 {
        let hash = hash(UnsafeRawBufferPointer(text))
        return self.hash(hash.low ^ hash.high, at: place)
    }
}
