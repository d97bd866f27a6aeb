import Sync

/// A JSON value as text on one line, members in their order.
enum JSONLine {
    static func text(of value: JSONValue) -> String {
        var text: [UInt8] = []
        append(value, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends, so that what is deep inside is not copied at every level.
    private static func append(_ value: JSONValue, to text: inout [UInt8]) {
        switch value {
        case .array(let elements):
            append(elements, "[", "]", to: &text) { append($0, to: &$1) }
        case .object(let members):
            append(members, "{", "}", to: &text) {
                JSONText.append(quoted: $0.key, to: &$1)
                $1 += ": ".utf8
                append($0.value, to: &$1)
            }
        default: JSONText.append(value, to: &text)
        }
    }

    private static func append<Element>(
        _ elements: [Element], _ start: String, _ end: String, to text: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        text += start.utf8
        for (index, element) in elements.enumerated() {
            if index > 0 { text += ", ".utf8 }
            append(element, &text)
        }
        text += end.utf8
    }
}
