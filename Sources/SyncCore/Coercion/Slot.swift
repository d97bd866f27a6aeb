/// The value of one column of one staged row, brought to the column's storage class: 16 bytes, no reference.
package struct Slot: Sendable {
    package enum Kind: UInt8, Sendable {
        /// The payload does not say: keep what is stored.
        case absent
        /// The payload says null: clear what is stored.
        case null
        /// A whole number, or a boolean as 0 or 1; stored as INTEGER.
        case integer
        /// A floating-point number; stored as REAL.
        case real
        /// UTF-8 text in the payload.
        case payloadText
        /// UTF-8 text in the arena.
        case arenaText
        /// Milliseconds since 1970, stored as 23 bytes of text.
        case date
        /// Bytes in the arena.
        case arenaBlob

        // Other modules compare these at every value, where a synthesized operator is a call through the conformance.
        @inlinable
        package static func == (left: Kind, right: Kind) -> Bool {
            unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
        }

        @inlinable
        package static func != (left: Kind, right: Kind) -> Bool { !(left == right) }
    }

    package var kind: Kind
    /// The length of text or a blob in bytes.
    package var length: UInt32
    /// The integer, the bits of the real, the milliseconds, or the offset of the text.
    package var bits: UInt64

    package init(kind: Kind, length: UInt32 = 0, bits: UInt64 = 0) {
        self.kind = kind
        self.length = length
        self.bits = bits
    }

    package static let absent = Slot(kind: .absent)
    package static let null = Slot(kind: .null)
    package static func integer(_ value: Int64) -> Slot { Slot(kind: .integer, bits: UInt64(bitPattern: value)) }
    package static func real(_ value: Double) -> Slot { Slot(kind: .real, bits: value.bitPattern) }
    package static func date(_ milliseconds: Int64) -> Slot {
        Slot(kind: .date, bits: UInt64(bitPattern: milliseconds))
    }

    @inlinable package var integer: Int64 { Int64(bitPattern: bits) }
    @inlinable package var real: Double { Double(bitPattern: bits) }
    @inlinable package var offset: Int { Int(truncatingIfNeeded: bits) }
    @inlinable package var isText: Bool { kind == .payloadText || kind == .arenaText }
}
