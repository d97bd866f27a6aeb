// ASCII characters of JSON, numbers, dates and predicates. Letters are written `UInt8(ascii: "e")`. Optimized builds
// turn all of them into constants.
extension UInt8 {
    @inline(__always) static var backspace: UInt8 { 0x08 }
    @inline(__always) static var tab: UInt8 { 0x09 }
    @inline(__always) static var newline: UInt8 { 0x0A }
    @inline(__always) static var formFeed: UInt8 { 0x0C }
    @inline(__always) static var carriageReturn: UInt8 { 0x0D }
    /// A space. All lower bytes are control characters.
    @inline(__always) static var blank: UInt8 { 0x20 }
    @inline(__always) static var quote: UInt8 { 0x22 }
    @inline(__always) static var percent: UInt8 { 0x25 }
    @inline(__always) static var apostrophe: UInt8 { 0x27 }
    @inline(__always) static var plus: UInt8 { 0x2B }
    @inline(__always) static var comma: UInt8 { 0x2C }
    @inline(__always) static var minus: UInt8 { 0x2D }
    @inline(__always) static var point: UInt8 { 0x2E }
    @inline(__always) static var slash: UInt8 { 0x2F }
    @inline(__always) static var digit0: UInt8 { 0x30 }
    @inline(__always) static var digit9: UInt8 { 0x39 }
    @inline(__always) static var colon: UInt8 { 0x3A }
    @inline(__always) static var openBracket: UInt8 { 0x5B }
    @inline(__always) static var backslash: UInt8 { 0x5C }
    @inline(__always) static var closeBracket: UInt8 { 0x5D }
    @inline(__always) static var underscore: UInt8 { 0x5F }
    @inline(__always) static var openBrace: UInt8 { 0x7B }
    @inline(__always) static var closeBrace: UInt8 { 0x7D }
    @inline(__always) static var delete: UInt8 { 0x7F }

    /// The bit that is set in lowercase letters and not in uppercase ones.
    @inline(__always) static var caseBit: UInt8 { 0x20 }

    /// Whether the byte is one of `0` to `9`.
    @inline(__always) var isDigit: Bool { self &- .digit0 <= 9 }
}

/// Operations on eight bytes of a text at once.
enum ByteWord {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    /// The high bit of each byte, in which matches are marked.
    static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Returns a word with the high bit set in each byte that equals an ASCII byte. After the first match, other bytes
    /// can have the high bit set too. Mask the result with `highs`, because the other bits have no meaning.
    @inline(__always)
    static func equal(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference
    }

    /// Returns a word that marks control characters, as ``equal(_:_:)`` does.
    @inline(__always)
    static func control(_ word: UInt64) -> UInt64 { (word &- ones &* UInt64(UInt8.blank)) & ~word }

    /// Returns a word that marks the bytes that can end a string or begin an escape, as ``equal(_:_:)`` does.
    @inline(__always)
    static func quoteOrBackslash(_ word: UInt64) -> UInt64 { equal(word, .quote) | equal(word, .backslash) }
}
