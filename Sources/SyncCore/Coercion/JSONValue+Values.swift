public import Foundation

// The contents of a value as Swift types. Each is nil if the value has another kind.
extension JSONValue {
    /// Whether the value is ``null``.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil for another kind of value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The string, unescaped; nil for another kind of value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The whole number; nil for a fraction, for a number that an `Int` cannot hold, and for another kind of value.
    /// `7.0` and `7e0` are 7.
    public var int: Int? { isNumber ? Coercion.storedValue(self, as: .integer)?.int.flatMap { Int(exactly: $0) } : nil }

    /// The number as the nearest `Double`; nil if the number exceeds the range of `Double`, and for another kind of
    /// value.
    public var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The exact number; nil for more than 38 significant digits, for a number that a `Decimal` cannot hold, and for
    /// another kind of value.
    public var decimal: Decimal? { isNumber ? Coercion.storedValue(self, as: .decimal)?.decimal : nil }

    /// The date of an ISO 8601 string, or of a Unix time in a string or number; nil for any other value. A sync reads
    /// date attributes without a format in the same way.
    public var date: Date? {
        switch self {
        case .string, .number: Coercion.storedValue(self, as: .date)?.date
        case .null, .bool, .array, .object: nil
        }
    }

    /// The elements of the array; nil for another kind of value.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of the object, in the order of the JSON; nil for another kind of value.
    public var object: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The element at an index of the array; nil if the index is out of bounds, or if the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    private var isNumber: Bool {
        if case .number = self { true } else { false }
    }
}
