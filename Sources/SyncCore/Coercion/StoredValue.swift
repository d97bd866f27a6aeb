public import Foundation

/// The value of an attribute as a row has it.
public enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case boolean(Bool)
    case string(String)
    /// An instant, to the millisecond.
    case date(Date)
    case uuid(UUID)
    case url(String)
    case binary(Data)
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
