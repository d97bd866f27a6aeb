/// Conversions of text to and from JSON strings, and of JSON values to text.
package enum JSONText {
    /// Appends the unescaped UTF-8 of a string's raw text, without checking the escapes.
    package static func unescape(_ raw: UnsafeBufferPointer<UInt8>, into out: inout [UInt8]) {
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            guard byte == .backslash, index + 1 < raw.count else {
                let start = index
                repeat { index += 1 } while index < raw.count && raw[index] != .backslash
                out.append(contentsOf: UnsafeBufferPointer(rebasing: raw[start..<index]))
                continue
            }
            let escape = raw[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "b"): out.append(.backspace)
            case UInt8(ascii: "f"): out.append(.formFeed)
            case UInt8(ascii: "n"): out.append(.newline)
            case UInt8(ascii: "r"): out.append(.carriageReturn)
            case UInt8(ascii: "t"): out.append(.tab)
            case UInt8(ascii: "u"): append(character(raw, &index), to: &out)
            default: out.append(escape)
            }
        }
    }

    private static func character(_ raw: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32 {
        func unit() -> UInt32 {
            var value: UInt32 = 0
            for _ in 0..<4 where index < raw.count {
                value = value << 4 | (hexadecimal(raw[index]) ?? 0)
                index += 1
            }
            return value
        }
        let high = unit()
        guard 0xD800...0xDBFF ~= high else { return high }
        index += 2
        return 0x10000 + (high - 0xD800) << 10 + (unit() & 0x3FF)
    }

    private static func append(_ character: UInt32, to out: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(character) else { return }
        out.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case .digit0 ... .digit9: UInt32(byte - .digit0)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}

/// JSON in canonical form: compact, keys sorted by their bytes, minimal escapes, and one spelling for each number.
/// Equal values have equal bytes. Only a number with an exponent beyond ±1,000,000 keeps its spelling.
package enum CanonicalJSON {
    package static func bytes(_ value: JSONValue) -> [UInt8] {
        var out: [UInt8] = []
        append(value, to: &out)
        return out
    }

    package static func append(
        _ tape: JSONTape, at token: Int, in bytes: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]
    ) {
        append(tape.value(at: token, in: bytes), to: &out)
    }

    private static func append(_ value: JSONValue, to out: inout [UInt8]) {
        switch value {
        case .null: out += "null".utf8
        case .bool(let bool): out += (bool ? "true" : "false").utf8
        case .number(let text): append(number: text, to: &out)
        case .string(let text): JSONText.append(quoted: text, to: &out)
        case .array(let elements):
            out.append(.openBracket)
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(.comma) }
                append(element, to: &out)
            }
            out.append(.closeBracket)
        case .object(let members):
            out.append(.openBrace)
            for (index, member) in sorted(members).enumerated() {
                if index > 0 { out.append(.comma) }
                JSONText.append(quoted: member.key, to: &out)
                out.append(.colon)
                append(member.value, to: &out)
            }
            out.append(.closeBrace)
        }
    }

    /// Returns the members sorted by the bytes of their keys. Of members with the same key, only the last is included.
    /// Keys are not compared as Swift strings, because canonically equivalent keys differ in JSON. An example is the
    /// two encodings of `é`.
    private static func sorted(_ members: [JSONValue.Member]) -> [JSONValue.Member] {
        let byKey = members.enumerated().sorted { left, right in
            let (first, second) = (left.element.key.utf8, right.element.key.utf8)
            if first.elementsEqual(second) { return left.offset < right.offset }
            return first.lexicographicallyPrecedes(second)
        }
        return byKey.indices.compactMap { index in
            let member = byKey[index].element
            let isRepeated = index + 1 < byKey.count && byKey[index + 1].element.key.utf8.elementsEqual(member.key.utf8)
            return isRepeated ? nil : member
        }
    }

    private static func append(number text: String, to out: inout [UInt8]) {
        let bytes = Array(text.utf8)
        bytes.withUnsafeBufferPointer { raw in
            if !NumberText.appendExact(raw, to: &out) { out += raw }
        }
    }
}

// MARK: - Writing

extension JSONText {
    /// Returns the compact text of a value. Members keep their order, and numbers keep their spelling.
    package static func bytes(of value: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    package static func append(_ value: JSONValue, to out: inout [UInt8]) {
        switch value {
        case .null: out += "null".utf8
        case .bool(let flag): out += (flag ? "true" : "false").utf8
        case .number(let text): out += text.utf8
        case .string(let text): append(quoted: text, to: &out)
        case .array(let elements):
            out.append(.openBracket)
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(.comma) }
                append(element, to: &out)
            }
            out.append(.closeBracket)
        case .object(let members):
            out.append(.openBrace)
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(.comma) }
                append(quoted: member.key, to: &out)
                out.append(.colon)
                append(member.value, to: &out)
            }
            out.append(.closeBrace)
        }
    }

    /// Appends a Swift string as a JSON string with quotes and minimal escapes.
    package static func append(quoted text: String, to out: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(quoted: $0, to: &out) }
    }

    /// Appends bytes as a JSON string with quotes and minimal escapes. The bytes between two escapes are copied at once.
    package static func append(quoted text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        out.append(.quote)
        var start = 0
        while start < text.count {
            let end = firstEscape(in: text, from: start)
            out += UnsafeBufferPointer(rebasing: text[start..<end])
            if end < text.count { append(escaped: text[end], to: &out) }
            start = end + 1
        }
        out.append(.quote)
    }

    /// Returns the index of the first byte that needs an escape; the number of bytes if there is none.
    private static func firstEscape(in text: UnsafeBufferPointer<UInt8>, from first: Int) -> Int {
        guard let start = UnsafeRawPointer(text.baseAddress) else { return text.count }
        var index = first
        while index + 8 <= text.count {
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let marks = (ByteWord.quoteOrBackslash(word) | ByteWord.control(word)) & ByteWord.highs
            // The lowest mark is exact, and its byte is the first one.
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        return text[index...].firstIndex { $0 < .blank || $0 == .quote || $0 == .backslash } ?? text.count
    }

    private static func append(escaped byte: UInt8, to out: inout [UInt8]) {
        switch byte {
        case .quote: out += [.backslash, .quote]
        case .backslash: out += [.backslash, .backslash]
        case .newline: out += "\\n".utf8
        case .carriageReturn: out += "\\r".utf8
        case .tab: out += "\\t".utf8
        default:
            let digits = Array("0123456789abcdef".utf8)
            out += "\\u00".utf8
            out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }

    /// Appends a whole number.
    static func append(_ number: Int64, to out: inout [UInt8]) {
        // The digits from the last to the first. The smallest number has 19 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number.magnitude
            var first = digits.count
            repeat {
                first -= 1
                digits[first] = .digit0 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 {
                first -= 1
                digits[first] = .minus
            }
            out += UnsafeBufferPointer(rebasing: digits[first...])
        }
    }
}

// MARK: - Quoting

extension JSONText {
    /// Returns a Swift string as a JSON string with quotes.
    static func quoted(_ text: String) -> String { String(decoding: CanonicalJSON.bytes(.string(text)), as: UTF8.self) }
}
