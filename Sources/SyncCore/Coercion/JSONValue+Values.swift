public import Foundation

// The contents of a value as Swift types. Each is nil if the value has another kind.
extension JSONValue {
    /// Whether the value is ``null``.
    public var isNull: Bool { self == .null }

    /// The Boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The string, unescaped.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The whole number. `7.0` and `7e0` are 7; nil for a fraction, and for a number that an `Int` cannot hold.
    public var int: Int? { isNumber ? Coercion.storedValue(self, as: .integer)?.int.flatMap { Int(exactly: $0) } : nil }

    /// The number as the nearest `Double`; nil if it is not finite.
    public var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The number, exactly; nil if it has more digits than a `Decimal` holds.
    public var decimal: Decimal? { isNumber ? Coercion.storedValue(self, as: .decimal)?.decimal : nil }

    /// The date of a string or number, by the rules of a sync: ISO 8601, other common forms, or a Unix time.
    public var date: Date? {
        switch self {
        case .string, .number: Coercion.storedValue(self, as: .date)?.date
        case .null, .bool, .array, .object: nil
        }
    }

    /// The elements of the array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of the object, in document order.
    public var object: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The element at an index of the array; nil if there is none, or if the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    private var isNumber: Bool {
        if case .number = self { true } else { false }
    }
}
