import Sync
import SyncCore

/// A JSON value as text on one line, members in their order.
enum JSONLine {
    static func text(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): quoted(text)
        case .array(let elements): "[" + elements.map(text(of:)).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(quoted($0.key)): \(text(of: $0.value))" }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 2)
        JSONText.append(quoted: text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
