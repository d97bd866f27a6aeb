/// The grammar of strings, eight bytes at a time where nothing special is in them.
extension JSONScanner {
    /// Reads a string from its opening quote to past its closing one. The token covers what is between.
    @inline(__always)
    mutating func string(next: UInt32 = 0) throws -> JSONTape.Token {
        let raw = UnsafeRawBufferPointer(bytes)
        let start = position + 1
        var end = start
        var hasEscapes = false
        while true {
            while end + 8 <= raw.count {
                let found = Self.specialBytes(
                    UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: end, as: UInt64.self)))
                if found != 0 {
                    end += found.trailingZeroBitCount >> 3
                    break
                }
                end += 8
            }
            if end < raw.count, raw[end] == .quote { break }
            position = end
            try special(&hasEscapes, since: start)
            end = position
        }
        guard end - start <= Int(Int32.max) else {
            throw failure(.malformedJSON, "the string is longer than 2 GB", at: start - 1)
        }
        position = end + 1
        return .init(
            kind: .string, offset: start, length: UInt32(truncatingIfNeeded: end - start), next: next,
            hasEscapes: hasEscapes)
    }

    /// The high bit of each byte that is a quote, a backslash, a control character or not ASCII; above the first such
    /// byte also of some others.
    @inline(__always)
    private static func specialBytes(_ word: UInt64) -> UInt64 {
        let control = (word &- ByteWord.ones &* 0x20) & ~word
        return (ByteWord.quoteOrBackslash(word) | control | word) & ByteWord.highs
    }

    /// Passes an escape, a run of characters beyond ASCII, or one plain byte near the end of the text.
    private mutating func special(_ hasEscapes: inout Bool, since start: Int) throws {
        guard position < bytes.count else {
            throw failure(.malformedJSON, "the string is not closed", at: start - 1)
        }
        switch bytes[position] {
        case .backslash:
            hasEscapes = true
            try escape()
        case 0..<UInt8.blank: throw failure("a control character in a string must be escaped", at: position)
        case UInt8.blank..<0x80: position += 1
        default:
            while position < bytes.count, bytes[position] >= 0x80 { try multibyte() }
        }
    }

    private mutating func escape() throws {
        let start = position
        position += 1
        guard position < bytes.count else { throw failure("the string is not closed", at: start) }
        switch bytes[position] {
        case .quote, .backslash, .slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
            UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            let unit = try hexadecimal(start)
            if 0xDC00...0xDFFF ~= unit { throw failure("a low surrogate stands alone", at: start) }
            guard 0xD800...0xDBFF ~= unit else { return }
            guard position + 1 < bytes.count, bytes[position] == .backslash, bytes[position + 1] == UInt8(ascii: "u")
            else {
                throw failure("a high surrogate stands alone", at: start)
            }
            position += 2
            guard 0xDC00...0xDFFF ~= (try hexadecimal(start)) else {
                throw failure("a high surrogate stands alone", at: start)
            }
        default: throw failure("there is no such escape", at: start)
        }
    }

    private mutating func hexadecimal(_ start: Int) throws -> UInt32 {
        guard position + 4 <= bytes.count else { throw failure("\\u needs four hexadecimal digits", at: start) }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = JSONText.hexadecimal(bytes[position]) else {
                throw failure("\\u needs four hexadecimal digits", at: start)
            }
            value = value << 4 | digit
            position += 1
        }
        return value
    }

    /// Reads one character beyond ASCII, by the table of well-formed sequences of the Unicode standard.
    mutating func multibyte() throws {
        let first = bytes[position]
        let lower: UInt8
        let upper: UInt8
        let count: Int
        switch first {
        case 0xC2...0xDF: (lower, upper, count) = (0x80, 0xBF, 1)
        case 0xE0: (lower, upper, count) = (0xA0, 0xBF, 2)
        case 0xE1...0xEC, 0xEE, 0xEF: (lower, upper, count) = (0x80, 0xBF, 2)
        case 0xED: (lower, upper, count) = (0x80, 0x9F, 2)
        case 0xF0: (lower, upper, count) = (0x90, 0xBF, 3)
        case 0xF1...0xF3: (lower, upper, count) = (0x80, 0xBF, 3)
        case 0xF4: (lower, upper, count) = (0x80, 0x8F, 3)
        default: throw failure(.invalidUTF8, "the text is not UTF-8", at: position)
        }
        guard position + count < bytes.count, lower...upper ~= bytes[position + 1] else {
            throw failure(.invalidUTF8, "the text is not UTF-8", at: position)
        }
        for offset in 1..<count where bytes[position + 1 + offset] & 0xC0 != 0x80 {
            throw failure(.invalidUTF8, "the text is not UTF-8", at: position)
        }
        position += count + 1
    }
}
