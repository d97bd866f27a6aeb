#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(ucrt)
    import ucrt
#else
    import Darwin
#endif

/// The value of one attribute of a node, in the form of an SQLite storage class. It has 12 bytes and no references.
@usableFromInline
package struct PackedValue: Sendable {
    @usableFromInline
    package enum Kind: UInt8, Sendable {
        /// The record gives no usable value for the attribute, so the stored value stays.
        case absent
        /// The record has null, which replaces the stored value.
        case null
        /// An integer, or a Boolean as 0 or 1; stored as INTEGER.
        case integer
        /// A floating-point number, stored as REAL.
        case real
        /// UTF-8 text that is verbatim in the payload.
        case payloadText
        /// UTF-8 text in the arena of the ``TextPool``.
        case arenaText
        /// Milliseconds since 1970, stored as 23 bytes of text.
        case date
        /// Bytes in the arena of the ``TextPool``.
        case arenaBlob

        // With a synthesized operator, each comparison in another module would be a call through the protocol witness.
        @inlinable
        package static func == (left: Kind, right: Kind) -> Bool {
            unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
        }

        @inlinable
        package static func != (left: Kind, right: Kind) -> Bool { !(left == right) }
    }

    @usableFromInline package let kind: Kind
    /// The upper bits of the offset of text or a blob.
    @usableFromInline package let offsetHigh: UInt16
    /// The lower half of a number, or the lower bits of the offset.
    @usableFromInline package let low: UInt32
    /// The upper half of a number, or the length of text or a blob.
    @usableFromInline package let high: UInt32

    /// Creates a number, a date, or a value without content.
    package init(kind: Kind, bits: UInt64 = 0) {
        self.kind = kind
        offsetHigh = 0
        low = UInt32(truncatingIfNeeded: bits)
        high = UInt32(truncatingIfNeeded: bits >> 32)
    }

    /// Creates a text or blob value of `length` bytes at an offset below 2^48.
    package init(kind: Kind, offset: Int, length: Int) {
        self.kind = kind
        offsetHigh = UInt16(truncatingIfNeeded: UInt64(offset) >> 32)
        low = UInt32(truncatingIfNeeded: offset)
        high = UInt32(truncatingIfNeeded: length)
    }

    package static let absent = PackedValue(kind: .absent)
    package static let null = PackedValue(kind: .null)
    package static func integer(_ value: Int64) -> PackedValue {
        PackedValue(kind: .integer, bits: UInt64(bitPattern: value))
    }
    package static func real(_ value: Double) -> PackedValue { PackedValue(kind: .real, bits: value.bitPattern) }
    package static func date(_ milliseconds: Int64) -> PackedValue {
        PackedValue(kind: .date, bits: UInt64(bitPattern: milliseconds))
    }

    /// The bits of the integer, of the floating-point number, or of the milliseconds of a date.
    @inlinable package var bits: UInt64 { UInt64(high) << 32 | UInt64(low) }
    @inlinable package var integer: Int64 { Int64(bitPattern: bits) }
    @inlinable package var real: Double { Double(bitPattern: bits) }
    @inlinable package var offset: Int {
        Int(truncatingIfNeeded: UInt64(offsetHigh) << 32 | UInt64(low))
    }
    /// The length of text or a blob in bytes.
    @inlinable package var length: Int { Int(high) }
    @inlinable package var isText: Bool { kind == .payloadText || kind == .arenaText }
}

/// The bytes of the text and blob values. Text that is verbatim in the payload is referenced there. All other text and
/// all blobs are in the arena, a byte buffer.
@usableFromInline
package struct TextPool {
    package let payload: UnsafeBufferPointer<UInt8>
    package let arena: UnsafeBufferPointer<UInt8>

    package init(payload: UnsafeBufferPointer<UInt8>, arena: UnsafeBufferPointer<UInt8>) {
        self.payload = payload
        self.arena = arena
    }

    /// Returns the bytes of a text or blob; empty for other values.
    @inline(__always)
    package func bytes(_ slot: PackedValue) -> UnsafeBufferPointer<UInt8> {
        switch slot.kind {
        case .payloadText: UnsafeBufferPointer(rebasing: payload[slot.offset..<slot.offset + slot.length])
        case .arenaText, .arenaBlob: UnsafeBufferPointer(rebasing: arena[slot.offset..<slot.offset + slot.length])
        default: UnsafeBufferPointer(start: nil, count: 0)
        }
    }

    /// Returns a text of the payload, with its JSON escapes unchanged.
    func payloadText(at offset: Int, length: Int) -> String {
        String(decoding: payload[offset..<offset + length], as: UTF8.self)
    }

    /// Returns whether two keys of the same type are equal.
    @inline(__always)
    package func isSameKey(_ left: PackedValue, _ right: PackedValue) -> Bool {
        guard left.isText, right.isText else { return left.kind == right.kind && left.bits == right.bits }
        return left.length == right.length && TextPool.equal(bytes(left), bytes(right))
    }

    @inline(__always)
    package static func equal(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        guard let l = left.baseAddress, let r = right.baseAddress else { return true }
        return memcmp(l, r, left.count) == 0
    }

    /// Returns whether UTF-8 text precedes other UTF-8 text in byte order. The database uses the same order.
    @inline(__always)
    package static func precedes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let l = left.baseAddress, let r = right.baseAddress else { return left.count < right.count }
        let difference = memcmp(l, r, min(left.count, right.count))
        return difference == 0 ? left.count < right.count : difference < 0
    }

    /// Returns whether text contains U+0000.
    static func containsNUL(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = text.baseAddress else { return false }
        return memchr(start, 0, text.count) != nil
    }

    /// Returns the hash of a key. Equal keys have equal hashes, even if one key is in the payload and the other in the
    /// arena. The hash differs in each process: see ``KeySecret``.
    @inline(__always)
    package func hash(_ slot: PackedValue) -> UInt64 {
        slot.isText ? TextPool.hash(bytes(slot)) : TextPool.mix(slot.bits)
    }

    @inline(__always)
    package static func mix(_ value: UInt64) -> UInt64 { KeySecret.ofProcess.mix(value) }

    @inline(__always)
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let secret = KeySecret.ofProcess
        var hash: UInt64 = 0
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + 8 <= raw.count {
            hash = secret.mix(hash ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // Mix the last bytes and the length. At most seven bytes are left, so they do not overlap.
        var tail = UInt64(truncatingIfNeeded: bytes.count)
        while index < raw.count {
            tail = tail << 8 | UInt64(raw[index])
            index += 1
        }
        return secret.mix(hash ^ tail)
    }
}

/// A secret that hashes of keys depend on. Without a secret, a service could choose keys with equal hashes, and each
/// lookup would compare all keys.
///
/// The secret is derived from Swift's `Hasher`. It differs in each process, except with the environment variable
/// `SWIFT_DETERMINISTIC_HASHING`, which benchmarks use. Hashes are never stored or sent.
package struct KeySecret: Sendable {
    package static let ofProcess = KeySecret()

    private let mask: UInt64
    private let factor: UInt64

    private init() {
        mask = Self.word(1)
        factor = Self.word(2) | 1
    }

    private static func word(_ number: Int) -> UInt64 {
        // Combine two hashes, because an `Int` may have 32 bits.
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
