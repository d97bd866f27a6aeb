/// The grammar of JSON over bytes: one pass, bounds-checked, nothing allocated per value.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    private(set) var position = 0
    /// The open objects and arrays of the value being read, as indexes of their tokens.
    private var open: [Int] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func advance() { position += 1 }

    @inline(__always)
    mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
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

    /// After an NDJSON record only blanks may stand on its line.
    mutating func endLine() throws {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0D, 0x09: position += 1
            case 0x0A:
                position += 1
                return
            default: throw failure(expected: "the end of the line")
            }
        }
    }

    /// Reads a key of an object, its colon, and the blanks before its value.
    mutating func key() throws -> String {
        skipBlanks()
        guard try peek("a key") == 0x22 else { throw failure(expected: "a key") }
        let token = try string()
        let raw = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
        skipBlanks()
        try expect(UInt8(ascii: ":"), "':'")
        skipBlanks()
        guard token.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        var plain: [UInt8] = []
        JSONText.unescape(raw, into: &plain)
        return String(decoding: plain, as: UTF8.self)
    }

    // MARK: Values

    /// Reads one value with everything in it. `depth` is how many objects and arrays are open around it.
    mutating func value(into tape: inout JSONTape, depth: Int) throws {
        open.removeAll(keepingCapacity: true)
        repeat {
            try element(into: &tape, depth: depth)
            try closeFinished(&tape)
        } while !open.isEmpty
    }

    /// Reads a scalar, or the bracket that opens an object or array; in an object its key first.
    @inline(__always)
    private mutating func element(into tape: inout JSONTape, depth: Int) throws {
        skipBlanks()
        if let container = open.last, tape.tokens[container].kind == .object {
            guard position < bytes.count, bytes[position] == 0x22 else { throw failure(expected: "a key") }
            var key = try string()
            key.next = UInt32(truncatingIfNeeded: tape.tokens.count + 1)
            tape.tokens.append(key)
            skipBlanks()
            try expect(UInt8(ascii: ":"), "':' after the key")
            skipBlanks()
        }
        guard position < bytes.count else { throw failure(expected: "a value") }
        let next = UInt32(truncatingIfNeeded: tape.tokens.count + 1)
        switch bytes[position] {
        case 0x22:
            var token = try string()
            token.next = next
            tape.tokens.append(token)
        case 0x7B: try begin(.object, &tape, depth)
        case 0x5B: try begin(.array, &tape, depth)
        case 0x74: try literal("true", .true_, &tape)
        case 0x66: try literal("false", .false_, &tape)
        case 0x6E: try literal("null", .null, &tape)
        case 0x2D, 0x30...0x39:
            var token = try number()
            token.next = next
            tape.tokens.append(token)
        default: throw failure(expected: "a value")
        }
    }

    private mutating func begin(_ kind: JSONTape.Kind, _ tape: inout JSONTape, _ depth: Int) throws {
        guard open.count + depth < maximumDepth else {
            throw failure(
                .nestingTooDeep, "objects and arrays are nested deeper than \(maximumDepth) levels", at: position)
        }
        tape.tokens.append(.init(kind: kind, offset: position))
        open.append(tape.tokens.count - 1)
        position += 1
        skipBlanks()
    }

    /// After a value: closes what ends here, or passes the comma before the next element.
    @inline(__always)
    private mutating func closeFinished(_ tape: inout JSONTape) throws {
        var isAfterValue = true
        if let last = open.last, last == tape.tokens.count - 1 { isAfterValue = false }
        while let container = open.last {
            skipBlanks()
            let isObject = tape.tokens[container].kind == .object
            guard position < bytes.count else {
                throw failure(
                    expected: isAfterValue
                        ? (isObject ? "',' or '}'" : "',' or ']'") : (isObject ? "a key or '}'" : "a value or ']'"))
            }
            if isAfterValue { tape.tokens[container].length &+= 1 }
            let byte = bytes[position]
            if byte == (isObject ? 0x7D : 0x5D) {
                position += 1
                tape.tokens[container].next = UInt32(truncatingIfNeeded: tape.tokens.count)
                open.removeLast()
                isAfterValue = true
            } else if isAfterValue {
                guard byte == 0x2C else { throw failure(expected: isObject ? "',' or '}'" : "',' or ']'") }
                position += 1
                return
            } else {
                if isObject, byte != 0x22 { throw failure(expected: "a key or '}'") }
                return
            }
        }
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONTape.Kind, _ tape: inout JSONTape) throws {
        let count = text.utf8CodeUnitCount
        let fits =
            position + count <= bytes.count && (0..<count).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
        guard fits else { throw failure(expected: "a value") }
        tape.tokens.append(
            .init(
                kind: kind, offset: position, length: UInt32(count),
                next: UInt32(truncatingIfNeeded: tape.tokens.count + 1)))
        position += count
    }

    // MARK: Numbers

    private mutating func number() throws -> JSONTape.Token {
        let start = position
        if bytes[position] == 0x2D { position += 1 }
        guard position < bytes.count, bytes[position] &- 0x30 <= 9 else { throw failure(expected: "a digit") }
        if bytes[position] == 0x30 {
            position += 1
            if position < bytes.count, bytes[position] &- 0x30 <= 9 {
                throw failure("a number cannot begin with 0 and another digit", at: start)
            }
        } else {
            skipDigits()
        }
        if position < bytes.count, bytes[position] == 0x2E {
            position += 1
            guard position < bytes.count, bytes[position] &- 0x30 <= 9 else {
                throw failure(expected: "a digit after the point")
            }
            skipDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == 0x65 {
            position += 1
            if position < bytes.count, bytes[position] == 0x2B || bytes[position] == 0x2D { position += 1 }
            guard position < bytes.count, bytes[position] &- 0x30 <= 9 else {
                throw failure(expected: "a digit of the exponent")
            }
            skipDigits()
        }
        return .init(kind: .number, offset: start, length: UInt32(truncatingIfNeeded: position - start))
    }

    @inline(__always)
    private mutating func skipDigits() {
        while position < bytes.count, bytes[position] &- 0x30 <= 9 { position += 1 }
    }

    // MARK: Strings

    /// Reads a string from its opening quote to past its closing one. The token covers what is between.
    @inline(__always)
    private mutating func string() throws -> JSONTape.Token {
        position += 1
        let start = position
        var hasEscapes = false
        let raw = UnsafeRawBufferPointer(bytes)
        while true {
            while position + 8 <= raw.count {
                let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                if Self.needsLook(word) { break }
                position += 8
            }
            guard position < bytes.count else { throw failure("the string is not closed", at: start - 1) }
            let byte = bytes[position]
            if byte == 0x22 {
                let length = position - start
                position += 1
                guard length <= Int(Int32.max) else { throw failure("the string is longer than 2 GB", at: start - 1) }
                return .init(
                    kind: .string, offset: start, length: UInt32(truncatingIfNeeded: length), hasEscapes: hasEscapes)
            } else if byte == 0x5C {
                hasEscapes = true
                try escape()
            } else if byte < 0x20 {
                throw failure("a control character in a string must be escaped", at: position)
            } else if byte < 0x80 {
                position += 1
            } else {
                try multibyte()
            }
        }
    }

    /// Whether a byte of the word is a quote, a backslash, a control character or not ASCII.
    @inline(__always)
    private static func needsLook(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* 0x22)
        let slash = word ^ (ones &* 0x5C)
        let hits = ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash) | (word &- ones &* 0x20) | word
        return hits & highs != 0
    }

    private mutating func escape() throws {
        let start = position
        position += 1
        guard position < bytes.count else { throw failure("the string is not closed", at: start) }
        switch bytes[position] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: position += 1
        case 0x75:
            position += 1
            let unit = try hexadecimal(start)
            if 0xDC00...0xDFFF ~= unit { throw failure("a low surrogate stands alone", at: start) }
            guard 0xD800...0xDBFF ~= unit else { return }
            guard position + 1 < bytes.count, bytes[position] == 0x5C, bytes[position + 1] == 0x75 else {
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
    @inline(__always)
    private mutating func multibyte() throws {
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

    // MARK: Failures

    /// Something else was expected at the position reached.
    func failure(expected: String) -> SyncError {
        guard position < bytes.count else {
            return failure("\(expected) is expected, but the text ends here", at: position)
        }
        let byte = bytes[position]
        if byte >= 0x80, !startsCharacter { return failure(.invalidUTF8, "the text is not UTF-8", at: position) }
        let found =
            byte > 0x20 && byte < 0x7F
            ? "'\(Character(UnicodeScalar(byte)))'"
            : byte >= 0x80 ? "another character" : "a control character or blank"
        return failure("\(expected) is expected, found \(found)", at: position)
    }

    private var startsCharacter: Bool {
        var copy = self
        return (try? copy.multibyte()) != nil
    }

    func failure(_ message: String, at offset: Int) -> SyncError { failure(.malformedJSON, message, at: offset) }

    private func failure(_ code: SyncError.Code, _ message: String, at offset: Int) -> SyncError {
        var line = 1
        var lineStart = 0
        for index in 0..<min(offset, bytes.count) where bytes[index] == 0x0A {
            line += 1
            lineStart = index + 1
        }
        return SyncError(code, message, line: line, column: offset - lineStart + 1)
    }
}
