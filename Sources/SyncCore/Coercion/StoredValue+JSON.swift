import Foundation

extension StoredValue {
    /// Whether JSON can say it: no number without an end, and no date before the year 1 or after 9999.
    package var hasJSONForm: Bool {
        switch self {
        case .double(let value): value.isFinite
        case .decimal(let value): value.isFinite
        case .date(let date): date.milliseconds != nil
        default: true
        }
    }

    /// The value as JSON that coerces back to it.
    package var jsonForm: JSONValue {
        switch self {
        case .null: .null
        case .integer(let value): JSONValue(value)
        case .double(let value): .number("\(value)")
        case .decimal(let value): .number("\(value)")
        case .boolean(let value): .bool(value)
        case .string(let text), .url(let text): .string(text)
        case .date(let date): date.milliseconds.map { .string(DateText.iso($0)) } ?? .null
        case .uuid(let value): JSONValue(value)
        case .binary(let data): .string(data.base64EncodedString())
        case .json(let value): value
        }
    }
}
