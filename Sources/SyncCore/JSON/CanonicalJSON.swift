/// JSON in one spelling: compact, keys sorted by their bytes, numbers in their shortest exact form, nothing escaped
/// that need not be. Equal values have equal bytes.
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
        case .string(let text): append(string: text, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                append(element, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in sorted(members).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                append(string: member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                append(member.value, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// The members by the bytes of their keys, the last of repeated ones. Swift's strings do not tell apart all texts
    /// that JSON does: an `é` of one character and one of two are equal.
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

    private static func append(string text: String, to out: inout [UInt8]) {
        out.append(0x22)
        for byte in text.utf8 {
            switch byte {
            case 0x22: out += [0x5C, 0x22]
            case 0x5C: out += [0x5C, 0x5C]
            case 0x0A: out += "\\n".utf8
            case 0x0D: out += "\\r".utf8
            case 0x09: out += "\\t".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                out += "\\u00".utf8
                out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: out.append(byte)
            }
        }
        out.append(0x22)
    }
}
