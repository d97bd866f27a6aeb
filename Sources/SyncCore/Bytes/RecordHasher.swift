/// A hash function for bytes, with a seed. Stores and servers keep hashes, so the function must never change.
///
/// Two chains of 64 × 64 → 128 bit products read the same words, with different secrets. Each chain folds its products
/// to 64 bits, so a hash has 128 bits.
package struct RecordHasher: Sendable {
    private let seed: RecordHash
    private let first: UInt64
    private let second: UInt64

    package init(seed: RecordHash) {
        self.seed = seed
        // The secrets must differ from the initial values of the chains.
        first = Self.fold(seed.low ^ 0xA076_1D64_78BD_642F, seed.high ^ 0xE703_7ED1_A0B4_28DB) | 1
        second = Self.fold(seed.high ^ 0x8EBC_6AF0_9C88_C6E3, seed.low ^ 0x5899_65CC_7537_4CC3) | 1
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    /// Returns a value that depends on the seed, and on the bytes and their number.
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
}

/// A hash of 128 bits.
package struct RecordHash: Sendable, Hashable {
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
}
