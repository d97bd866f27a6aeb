/// A JSON value. Whole numbers are integers, and all others are `Double`, since exact numbers are not needed.
enum JSON: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// A list of values.
    case array([JSON])
    /// Values by name, without an order.
    case object([String: JSON])

    /// The text of a string.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of an integer.
    var whole: Int? {
        if case .integer(let whole) = self { whole } else { nil }
    }

    /// The members of an object.
    var members: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of an array.
    var elements: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    /// Creates a string.
    init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates an object.
    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
