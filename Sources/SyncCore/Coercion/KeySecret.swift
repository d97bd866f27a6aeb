/// What the hashes of keys depend on. A service that does not know it cannot choose keys that have one hash, which would make
/// each look-up pass by all of them.
///
/// The secret is that of Swift's `Hasher`: another one in each process, and the same one in all that run with
/// `SWIFT_DETERMINISTIC_HASHING`, as measurements do. Hashes of it are never stored or sent.
package struct KeySecret: Sendable {
    package static let ofProcess = KeySecret()

    private let mask: UInt64
    private let factor: UInt64

    private init() {
        mask = Self.word(1)
        factor = Self.word(2) | 1
    }

    private static func word(_ number: Int) -> UInt64 {
        // An `Int` may be of 32 bits.
        (0..<2).reduce(0) { word, half in
            var hasher = Hasher()
            hasher.combine(number)
            hasher.combine(half)
            return word << 32 ^ UInt64(truncatingIfNeeded: hasher.finalize())
        }
    }

    @inline(__always)
    package func mix(_ value: UInt64) -> UInt64 {
        let product = (value ^ mask).multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }
}
