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
