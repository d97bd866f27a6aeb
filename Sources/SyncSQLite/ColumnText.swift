import Foundation
import SyncCore

/// The text forms of values in columns.
enum ColumnText {
    static func decimal(_ value: Decimal) -> String { value.description }
    static func decimal(_ text: String) -> Decimal? { Decimal(string: text) }

    private static var style: Date.ISO8601FormatStyle {
        .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: true)
    }
    static func date(_ value: Date) -> String { value.formatted(style) }
    static func date(_ text: String) -> Date? { try? Date(text, strategy: style) }

    static func json(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): "\"\(text)\""
        case .array(let values): "[\(values.map(json).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(json($0.value))" }.joined(separator: ","))}"
        }
    }
    static func json(_ text: String) -> JSONValue? { .string(text) }
}
