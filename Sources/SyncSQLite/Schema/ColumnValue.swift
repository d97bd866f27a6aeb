import Foundation
package import GRDB
package import SyncCore
import SyncStore

/// Conversion between attribute values and column values.
package enum ColumnValue {
    /// Returns the complete text of a column. GRDB's own accessors end text at the first NUL.
    static func text(_ bytes: Data?) -> DatabaseValue {
        bytes.map { String(decoding: $0, as: UTF8.self).databaseValue } ?? .null
    }

    /// Returns the column value for a value of an attribute of this type.
    ///
    /// If the value has another type, the conversion uses the type of the value, unless the attribute is JSON or
    /// transformable. A value that does not fit (``fits(_:_:)``) may become NULL.
    package static func databaseValue(_ value: StoredValue, as type: AttributeType) -> DatabaseValue {
        if type == .transformable || type == .json { return jsonText(value) }
        return switch value {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .decimal(let value): ColumnText.decimal(value)?.databaseValue ?? .null
        case .boolean(let value): (value ? 1 : 0).databaseValue
        case .string(let value), .url(let value): value.databaseValue
        case .date(let value): ColumnText.date(value)?.databaseValue ?? .null
        case .uuid(let value): value.uuidString.databaseValue
        case .binary(let value): value.databaseValue
        case .json(let value): jsonText(.json(value))
        }
    }

    /// Returns the attribute value of a column. A value that does not fit the type becomes ``StoredValue/null``.
    ///
    /// - Parameter isKey: Whether the column is the key of the row. A temporary key then becomes ``StoredValue/null``.
    package static func storedValue(_ value: DatabaseValue, as type: AttributeType, isKey: Bool = false) -> StoredValue
    {
        if isKey, TemporaryKey.isLocal(value) { return .null }
        return switch (type, value.storage) {
        case (.integer, .int64(let value)): .integer(value)
        case (.boolean, .int64(let value)): .boolean(value != 0)
        case (.double, .double(let value)): .double(value)
        case (.double, .int64(let value)): .double(Double(value))
        case (.binary, .blob(let data)): .binary(data)
        case (.integer, _), (.boolean, _), (.double, _), (.binary, _): .null
        case (_, .string(let text)): StoredValue(text: text, as: type) ?? .null
        default: .null
        }
    }

    /// Returns whether a value fits an attribute of this type. Null always fits.
    package static func fits(_ value: StoredValue, _ type: AttributeType) -> Bool {
        switch (value, type) {
        case (.null, _), (_, .transformable), (.integer, .integer), (.boolean, .boolean), (.string, .string),
            (.uuid, .uuid), (.url, .url), (.binary, .binary), (.json, .json):
            true
        case (.double(let value), .double): !value.isNaN
        case (.decimal(let value), .decimal): ColumnText.decimal(value) != nil
        case (.date(let value), .date): value.milliseconds != nil
        default: false
        }
    }

    /// Returns the key in a column, as in a ``SyncResult``; nil for NULL and blobs.
    package static func recordKey(_ value: DatabaseValue, as type: AttributeType) -> PrimaryKeyValue? {
        switch value.storage {
        case .int64(let value): .integer(value)
        case .double(let value): .double(value)
        case .string(let text) where type == .date:
            .text(StoredValue(text: text, as: .date)?.date?.milliseconds.map(DateText.iso) ?? text)
        case .string(let text): .text(text)
        case .null, .blob: nil
        }
    }

    /// Returns an SQL expression with one parameter, and the value to bind. GRDB binds text only up to the first NUL,
    /// so text with a NUL is bound as a blob.
    package static func bound(_ value: DatabaseValue) -> (sql: String, value: DatabaseValue) {
        guard case .string(let text) = value.storage, text.utf8.contains(0) else { return ("?", value) }
        return ("CAST(? AS TEXT)", Data(text.utf8).databaseValue)
    }

    /// Returns the value as an SQL literal; nil for NULL and for text with a NUL character.
    static func literal(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .null: nil
        case .int64(let value): String(value)
        case .double(let value): value.isFinite ? "\(value)" : (value > 0 ? "9e999" : "-9e999")
        case .string(let text): text.utf8.contains(0) ? nil : SchemaSQL.literal(text)
        case .blob(let data): "X'\(data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
        }
    }

    /// Returns the JSON text of a value. JSON null becomes NULL, so that a column has only one form of nil. A number
    /// that JSON cannot express becomes NULL too.
    private static func jsonText(_ value: StoredValue) -> DatabaseValue {
        let json: JSONValue =
            switch value {
            case .null: .null
            case .integer(let value): JSONValue(value)
            case .double(let value): value.isFinite ? .number("\(value)") : .null
            case .decimal(let value): ColumnText.decimal(value).map { .number($0) } ?? .null
            case .boolean(let value): .bool(value)
            case .string(let value), .url(let value): .string(value)
            case .date(let value): value.milliseconds.map { .string(DateText.iso($0)) } ?? .null
            case .uuid(let value): JSONValue(value)
            case .binary(let value): .string(value.base64EncodedString())
            case .json(let value): value
            }
        return json == .null ? .null : ColumnText.json(json).databaseValue
    }
}

/// The canonical text of values in columns. Equal values have equal text.
enum ColumnText {
    /// Returns a decimal without an exponent and without redundant zeros; nil if the value is not a number or has too
    /// many digits.
    static func decimal(_ value: Decimal) -> String? {
        var text: [UInt8] = []
        let isNumber = Array("\(value)".utf8).withUnsafeBufferPointer { DecimalText.append($0, to: &text) }
        return isNumber ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Returns a date as `2024-02-29 18:29:59.999` in UTC; nil outside the years 1 to 9999.
    static func date(_ value: Date) -> String? {
        value.milliseconds.map(DateText.string)
    }

    /// Returns JSON with sorted keys and without whitespace.
    static func json(_ value: JSONValue) -> String {
        String(decoding: CanonicalJSON.bytes(value), as: UTF8.self)
    }
}

// MARK: - Comparison

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
