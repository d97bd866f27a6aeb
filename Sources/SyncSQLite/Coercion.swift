import Foundation
import SyncCore

enum Coercion {
    static func storedValue(_ value: JSONValue, as type: AttributeType) -> StoredValue? {
        switch (type, value) {
        case (_, .null): .null
        case (.integer, .number(let text)): Int64(text).map { .integer($0) }
        case (.double, .number(let text)): Double(text).map { .double($0) }
        case (.decimal, .number(let text)): Decimal(string: text).map { .decimal($0) }
        case (.boolean, .bool(let value)): .boolean(value)
        case (.string, .string(let text)): .string(text)
        case (.url, .string(let text)): .url(text)
        case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) }
        case (.date, .string(let text)): (try? Date(text, strategy: .iso8601)).map { .date($0) }
        case (.binary, .string(let text)): Data(base64Encoded: text).map { .binary($0) }
        case (.json, let value): .json(value)
        default: nil
        }
    }
}
