public import Foundation

/// A JSON value with exact numbers.
///
/// Absent is not a value: a missing key of an object is simply not there, `null` is ``null``.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`, which clears what it stands for; a key that is absent leaves it.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// The number's text, exactly as written (`7`, `7.50`, `1e3`).
    case number(String)
    /// A string, unescaped.
    case string(String)
    /// The elements in document order.
    case array([JSONValue])
    /// The members in document order. Of repeated keys the last one counts.
    case object([Member])

    /// One key of an object and its value.
    public struct Member: Sendable, Hashable {
        /// The key, unescaped.
        public var key: String
        /// Its value.
        public var value: JSONValue

        /// A key with its value.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The value of the last member with this key, byte for byte, if this is an object that has one.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    /// The shortest number that reads as this double.
    public init(floatLiteral value: Double) { self = .number("\(value)") }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object, its members in this order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue {
    /// A whole number.
    public init(_ value: some BinaryInteger) { self = .number(String(value)) }
    /// A string.
    public init(_ value: String) { self = .string(value) }
    /// A UUID in upper case.
    public init(_ value: UUID) { self = .string(value.uuidString) }
}

// Texts are equal if their bytes are, as in JSON and in a database; Swift's strings also are if they only look alike.
extension JSONValue {
    /// Whether both are the same value with the same spelling of numbers and order of members.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue.Member {
    /// Whether both have the same key, byte for byte, and the same value.
    public static func == (left: Self, right: Self) -> Bool {
        left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }
}
