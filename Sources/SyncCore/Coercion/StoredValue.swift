public import Foundation

/// The value of an attribute as a row has it.
public enum StoredValue: Sendable, Hashable {
    /// No value: NULL in the column, `nil` in a condition.
    case null
    /// Of an integer attribute.
    case integer(Int64)
    /// Of a double attribute; not a number is not stored.
    case double(Double)
    /// Of a decimal attribute, exact; stored as text.
    case decimal(Decimal)
    /// Of a boolean attribute; stored as 0 or 1.
    case boolean(Bool)
    /// Of a string attribute.
    case string(String)
    /// An instant, to the millisecond.
    case date(Date)
    /// Of a UUID attribute; stored in upper case.
    case uuid(UUID)
    /// Of a URL attribute, as the JSON spells it.
    case url(String)
    /// Of a binary attribute: bytes, which JSON has as base64.
    case binary(Data)
    /// Of a JSON attribute, or of a transformable one, stored in one canonical spelling. JSON null is ``null``.
    case json(JSONValue)
}

// Texts are equal if their bytes are, as in the database; Swift's strings also are if they only look alike.
extension StoredValue {
    /// Whether both would be stored as the same value.
    public static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.boolean(let left), .boolean(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.date(let left), .date(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.url(let left), .url(let right)): left.utf8.elementsEqual(right.utf8)
        case (.binary(let left), .binary(let right)): left == right
        case (.json(let left), .json(let right)): left == right
        default: false
        }
    }
}
