import Foundation
import GRDB
import SyncCore

extension DatabaseValue {
    /// The value as JSON, for readers of the conflict log.
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
    /// The value that a column stores for this JSON.
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
