import Foundation
import GRDB
import SyncCore

/// A database value whose text is compared byte for byte, as SQLite compares it.
///
/// Swift and GRDB treat the two Unicode encodings of `é` as equal (canonical equivalence). A service and a database do
/// not.
struct BinaryComparedValue: Hashable {
    let value: DatabaseValue

    init(_ value: DatabaseValue) { self.value = value }

    static func == (left: BinaryComparedValue, right: BinaryComparedValue) -> Bool {
        guard case .string(let own) = left.value.storage, case .string(let other) = right.value.storage else {
            return left.value == right.value
        }
        return own.utf8.elementsEqual(other.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension DatabaseValue {
    var exact: BinaryComparedValue { BinaryComparedValue(self) }

    func isExactly(_ other: DatabaseValue) -> Bool { exact == other.exact }
}

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
