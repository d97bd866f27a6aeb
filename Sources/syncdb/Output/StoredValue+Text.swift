import Foundation
import Sync

extension StoredValue {
    /// The value in a table.
    var text: String {
        switch jsonValue {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text): text
        case let other: JSONLine.text(of: other)
        }
    }

    /// The value in JSON: dates as ISO 8601 in UTC, bytes as base64.
    var jsonValue: JSONValue {
        switch self {
        case .null: .null
        case .integer(let value): .number("\(value)")
        case .double(let value): value.isFinite ? .number("\(value)") : .null
        case .decimal(let value): .number("\(value)")
        case .boolean(let value): .bool(value)
        case .string(let value), .url(let value): .string(value)
        case .date(let value): .string(Self.text(of: value))
        case .uuid(let value): .string(value.uuidString)
        case .binary(let value): .string(value.base64EncodedString())
        case .json(let value): value
        }
    }

    private static func text(of date: Date) -> String {
        // The style cuts off what is below a millisecond, and a binary fraction of a second may be a little below one.
        let rounded = date.addingTimeInterval(0.0005)
        let text = rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
    }
}
