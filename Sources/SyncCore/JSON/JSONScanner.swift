/// Scans JSON text in one pass, with bounds checks and without allocations for single values.
struct JSONScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    var position = 0
    private let tokens = TokenBuffer()

    /// Creates a scanner.
    ///
    /// - Parameter isStart: Whether the document begins here, so that a byte order mark is allowed.
    init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int, isStart: Bool = true) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        if isStart, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func advance() { position += 1 }

    @inline(__always)
    mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case .blank, .newline, .carriageReturn, .tab: position += 1
            default: return
            }
        }
    }

    func peek(_ expected: @autoclosure () -> String) throws -> UInt8 {
        guard position < bytes.count else { throw failure(expected: expected()) }
        return bytes[position]
    }

    mutating func expect(_ byte: UInt8, _ expected: @autoclosure () -> String) throws {
        guard position < bytes.count, bytes[position] == byte else { throw failure(expected: expected()) }
        position += 1
    }

    /// Checks that only blanks follow an NDJSON record on its line.
    mutating func endLine() throws {
        while position < bytes.count {
            switch bytes[position] {
            case .blank, .carriageReturn, .tab: position += 1
            case .newline:
                position += 1
                return
            default: throw failure(expected: "the end of the line")
            }
        }
    }

    /// Reads a key of an object, its colon, and the blanks before its value.
    mutating func key() throws -> String {
        skipBlanks()
        guard try peek("a key") == .quote else { throw failure(expected: "a key") }
        let token = try string()
        let raw = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
        skipBlanks()
        try expect(.colon, "':'")
        skipBlanks()
        guard token.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        var plain: [UInt8] = []
        JSONText.unescape(raw, into: &plain)
        return String(decoding: plain, as: UTF8.self)
    }

    // MARK: Values

    /// Reads one complete value and replaces the contents of the tape. `depth` is the number of open objects and arrays
    /// around it.
    mutating func value(into tape: inout JSONTape, depth: Int) throws {
        let count = try value(depth: depth)
        tape.tokens.removeAll(keepingCapacity: true)
        tape.tokens.append(contentsOf: tokens.first(count))
    }

    /// Reads a value into `tokens` and returns the number of tokens. While an object or array is open, its `next` is
    /// the index of the enclosing container plus 1; 0 if there is none.
    private mutating func value(depth: Int) throws -> Int {
        var count = 0
        var container = -1
        var isObject = false
        var openCount = depth
        while true {
            tokens.reserve(count + 2)
            skipBlanks()
            guard position < bytes.count else { throw failure(expected: "a value") }
            let next = UInt32(truncatingIfNeeded: count + 1)
            var isOpened = false
            switch bytes[position] {
            case .quote: tokens[count] = try string(next: next)
            case .openBrace, .openBracket:
                guard openCount < maximumDepth else { throw tooDeep() }
                openCount += 1
                isObject = bytes[position] == .openBrace
                tokens[count] = .init(
                    kind: isObject ? .object : .array, offset: position,
                    next: UInt32(truncatingIfNeeded: container &+ 1))
                container = count
                isOpened = true
                position += 1
            case UInt8(ascii: "t"): tokens[count] = try literal("true", .true_, next: next)
            case UInt8(ascii: "f"): tokens[count] = try literal("false", .false_, next: next)
            case UInt8(ascii: "n"): tokens[count] = try literal("null", .null, next: next)
            case .minus, .digit0 ... .digit9: tokens[count] = try number(next: next)
            default: throw failure(expected: "a value")
            }
            count += 1
            // Close the containers that end here, and stop at the next value.
            while true {
                if container < 0 { return count }
                skipBlanks()
                guard position < bytes.count else { throw unfinished(isObject, isOpened) }
                let byte = bytes[position]
                if !isOpened { tokens[container].length &+= 1 }
                if byte == (isObject ? .closeBrace : .closeBracket) {
                    position += 1
                    let around = Int(tokens[container].next) - 1
                    tokens[container].next = UInt32(truncatingIfNeeded: count)
                    container = around
                    isObject = around >= 0 && tokens[around].kind == .object
                    openCount -= 1
                    isOpened = false
                    continue
                }
                if isOpened {
                    if isObject, byte != .quote { throw unfinished(isObject, isOpened) }
                } else {
                    guard byte == .comma else { throw unfinished(isObject, isOpened) }
                    position += 1
                    if isObject { skipBlanks() }
                }
                if isObject {
                    guard position < bytes.count, bytes[position] == .quote else { throw failure(expected: "a key") }
                    tokens.reserve(count + 2)
                    tokens[count] = try string(next: UInt32(truncatingIfNeeded: count + 1))
                    count += 1
                    skipBlanks()
                    try expect(.colon, "':' after the key")
                }
                break
            }
        }
    }

    func tooDeep() -> SyncError {
        failure(.nestingTooDeep, "objects and arrays are nested more than \(maximumDepth) levels deep", at: position)
    }

    /// Returns the error for an unexpected byte, or the end of the text, inside an object or array.
    ///
    /// - Parameter isOpened: Whether the error is directly after the opening bracket, and not after a value.
    private func unfinished(_ isObject: Bool, _ isOpened: Bool) -> SyncError {
        isOpened
            ? failure(expected: isObject ? "a key or '}'" : "a value or ']'")
            : failure(expected: isObject ? "',' or '}'" : "',' or ']'")
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONTape.Kind, next: UInt32) throws -> JSONTape.Token {
        let count = text.utf8CodeUnitCount
        let fits =
            position + count <= bytes.count && (0..<count).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
        guard fits else { throw failure(expected: "a value") }
        position += count
        return .init(kind: kind, offset: position - count, length: UInt32(count), next: next)
    }

    // MARK: Numbers

    @inline(__always)
    private mutating func number(next: UInt32) throws -> JSONTape.Token {
        let start = position
        if bytes[position] == .minus { position += 1 }
        guard position < bytes.count, bytes[position].isDigit else { throw failure(expected: "a digit") }
        if bytes[position] == .digit0 {
            position += 1
            if position < bytes.count, bytes[position].isDigit {
                throw failure("a number must not have a leading zero", at: start)
            }
        } else {
            skipDigits()
        }
        if position < bytes.count, bytes[position] == .point {
            position += 1
            guard position < bytes.count, bytes[position].isDigit else {
                throw failure(expected: "a digit after the decimal point")
            }
            skipDigits()
        }
        if position < bytes.count, bytes[position] | .caseBit == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == .plus || bytes[position] == .minus { position += 1 }
            guard position < bytes.count, bytes[position].isDigit else {
                throw failure(expected: "a digit in the exponent")
            }
            skipDigits()
        }
        return .init(kind: .number, offset: start, length: UInt32(truncatingIfNeeded: position - start), next: next)
    }

    @inline(__always)
    private mutating func skipDigits() {
        while position < bytes.count, bytes[position].isDigit { position += 1 }
    }
}

// MARK: - Strings

/// Reads strings. Eight bytes are read at a time, as long as they have no special bytes.
extension JSONScanner {
    /// Reads a string, including both quotes. The token covers the text between the quotes.
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

    /// Returns a word with the high bit set in each quote, backslash, control character or non-ASCII byte. After the
    /// first such byte, other bytes can have the high bit set too.
    @inline(__always)
    private static func specialBytes(_ word: UInt64) -> UInt64 {
        (ByteWord.quoteOrBackslash(word) | ByteWord.control(word) | word) & ByteWord.highs
    }

    /// Reads an escape, a run of non-ASCII characters, or one plain byte near the end of the text.
    private mutating func special(_ hasEscapes: inout Bool, since start: Int) throws {
        guard position < bytes.count else {
            throw failure(.malformedJSON, "unterminated string", at: start - 1)
        }
        switch bytes[position] {
        case .backslash:
            hasEscapes = true
            try escape()
        case 0..<UInt8.blank: throw failure("unescaped control character in a string", at: position)
        case UInt8.blank..<0x80: position += 1
        default:
            while position < bytes.count, bytes[position] >= 0x80 { try multibyte() }
        }
    }

    private mutating func escape() throws {
        let start = position
        position += 1
        guard position < bytes.count else { throw failure("unterminated string", at: start) }
        switch bytes[position] {
        case .quote, .backslash, .slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
            UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            let unit = try hexadecimal(start)
            if 0xDC00...0xDFFF ~= unit { throw failure("unpaired low surrogate", at: start) }
            guard 0xD800...0xDBFF ~= unit else { return }
            guard position + 1 < bytes.count, bytes[position] == .backslash, bytes[position + 1] == UInt8(ascii: "u")
            else {
                throw failure("unpaired high surrogate", at: start)
            }
            position += 2
            guard 0xDC00...0xDFFF ~= (try hexadecimal(start)) else {
                throw failure("unpaired high surrogate", at: start)
            }
        default: throw failure("unknown escape sequence", at: start)
        }
    }

    private mutating func hexadecimal(_ start: Int) throws -> UInt32 {
        guard position + 4 <= bytes.count else {
            throw failure("expected four hexadecimal digits after \\u", at: start)
        }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = JSONText.hexadecimal(bytes[position]) else {
                throw failure("expected four hexadecimal digits after \\u", at: start)
            }
            value = value << 4 | digit
            position += 1
        }
        return value
    }

    /// Reads one non-ASCII character, by the table of well-formed byte sequences in the Unicode standard.
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

// MARK: - Failures

/// Creates errors with line and column.
extension JSONScanner {
    /// Returns the error for an unexpected byte or end at the current position.
    func failure(expected: String) -> SyncError {
        guard position < bytes.count else {
            return failure("expected \(expected), found the end of the text", at: position)
        }
        let byte = bytes[position]
        if byte >= 0x80, !startsCharacter { return failure(.invalidUTF8, "the text is not UTF-8", at: position) }
        let found =
            byte > .blank && byte < .delete
            ? "'\(Character(UnicodeScalar(byte)))'"
            : byte >= 0x80 ? "a non-ASCII character" : "a control character or a space"
        return failure("expected \(expected), found \(found)", at: position)
    }

    private var startsCharacter: Bool {
        var copy = self
        return (try? copy.multibyte()) != nil
    }

    func failure(_ message: String, at offset: Int) -> SyncError { failure(.malformedJSON, message, at: offset) }

    func failure(_ code: SyncError.Code, _ message: String, at offset: Int) -> SyncError {
        var line = 1
        var lineStart = 0
        for index in 0..<min(offset, bytes.count) where bytes[index] == .newline {
            line += 1
            lineStart = index + 1
        }
        return SyncError(code, message, line: line, column: offset - lineStart + 1)
    }
}
