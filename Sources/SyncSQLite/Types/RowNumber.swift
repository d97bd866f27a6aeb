public import SyncCore

/// What refers to a row whose key has several parts, or that has none: its number in this store.
public struct RowNumber: AttributeValue, Hashable {
    /// The number.
    public let value: Int64

    /// A number.
    public init(_ value: Int64) { self.value = value }

    /// Whole numbers.
    public static var attributeType: AttributeType { .integer }

    /// The number, if it is one.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.int else { return nil }
        self.init(number)
    }

    /// The number.
    public var storedValue: StoredValue { .integer(value) }
}
