import Foundation
import GRDB
import SyncCore

extension DatabaseValue {
    /// The value as JSON. A blob becomes base64 text, and a number that is not finite becomes null.
    var json: JSONValue {
        switch storage {
        case .null: .null
        case .int64(let number): JSONValue(number)
        case .double(let number): number.isFinite ? JSONValue(floatLiteral: number) : .null
        case .string(let text): .string(text)
        case .blob(let data): .string(data.base64EncodedString())
        }
    }
}

extension JSONValue {
    /// The value to store in a column for this JSON. An array or object becomes text.
    var columnValue: DatabaseValue {
        switch self {
        case .null: .null
        case .bool(let flag): flag.databaseValue
        case .number(let text): Int64(text)?.databaseValue ?? Double(text)?.databaseValue ?? .null
        case .string(let text): text.databaseValue
        case .array, .object: self.text.databaseValue
        }
    }
}
