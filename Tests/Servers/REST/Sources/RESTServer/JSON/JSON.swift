/// A JSON value. Numbers need not be exact here: a whole number is an integer, every other a `Double`.
enum JSON: Sendable, Equatable {
    /// `null`, which is a value too.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// Any other number.
    case number(Double)
    /// A text.
    case string(String)
    /// Values in their order.
    case array([JSON])
    /// Values by name, in no order.
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
    /// A text in the source.
    init(stringLiteral value: String) {
        self = .string(value)
    }

    /// An object in the source.
    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
