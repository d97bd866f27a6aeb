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
}
