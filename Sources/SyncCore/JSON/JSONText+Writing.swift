extension JSONText {
    /// Appends the compact text of a value, its members in their order and its numbers as they are spelled.
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

    /// Appends the text as a JSON string, quotes included; nothing is escaped that need not be.
    package static func append(quoted text: String, to out: inout [UInt8]) {
        append(quoted: text.utf8, to: &out)
    }

    /// The same of bytes in memory, which mostly have nothing to escape.
    package static func append(quoted text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        guard text.contains(where: { $0 < .blank || $0 == .quote || $0 == .backslash }) else {
            out.append(.quote)
            out += text
            return out.append(.quote)
        }
        append(quoted: text[...], to: &out)
    }

    /// The same of the bytes of a text.
    package static func append(quoted text: some Sequence<UInt8>, to out: inout [UInt8]) {
        out.append(.quote)
        for byte in text {
            switch byte {
            case .quote: out += [.backslash, .quote]
            case .backslash: out += [.backslash, .backslash]
            case .newline: out += "\\n".utf8
            case .carriageReturn: out += "\\r".utf8
            case .tab: out += "\\t".utf8
            case 0..<UInt8.blank:
                let digits = Array("0123456789abcdef".utf8)
                out += "\\u00".utf8
                out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: out.append(byte)
            }
        }
        out.append(.quote)
    }
}
