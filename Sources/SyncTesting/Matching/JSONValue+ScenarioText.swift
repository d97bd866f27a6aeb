import SyncCore

extension JSONValue {
    /// The value as one line of JSON, for reports.
    var scenarioText: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[\(elements.map(\.scenarioText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.key)): \($0.value.scenarioText)" }.joined(separator: ", "))}"
        }
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16) }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\t": "\\t"
            case "\r": "\\r"
            default: scalar.value < 0x20 ? "\\u00" + (scalar.value < 16 ? "0" : "") + hex(scalar) : "\(scalar)"
            }
        }
        return "\"\(escaped.joined())\""
    }
}
