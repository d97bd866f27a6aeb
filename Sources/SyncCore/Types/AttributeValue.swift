public import Foundation

/// A Swift type for the values of an attribute.
///
/// Numbers, Booleans, strings, dates, UUIDs, URLs, data, JSON and optionals of them conform. Enums with such raw values need
/// no conformance. Neither do `Codable` types, which are stored as JSON.
public protocol AttributeValue: Sendable {
    /// The type of the attribute.
    static var attributeType: AttributeType { get }
    /// Whether an attribute of this type is optional.
    static var isOptional: Bool { get }
    /// Creates the value from a stored value; nil if the stored value does not fit.
    init?(storedValue: StoredValue)
    /// The stored form of the value.
    var storedValue: StoredValue { get }
}

extension AttributeValue {
    /// False: values of this type are never nil.
    public static var isOptional: Bool { false }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// The attribute type of the wrapped type.
    public static var attributeType: AttributeType { Wrapped.attributeType }
    /// True: values of this type may be nil.
    public static var isOptional: Bool { true }

    /// Creates the value, or nil for null.
    public init?(storedValue: StoredValue) {
        if storedValue.isNull {
            self = Self.none
        } else if let value = Wrapped(storedValue: storedValue) {
            self = Self.some(value)
        } else {
            return nil
        }
    }

    /// The stored form of the value; null for nil.
    public var storedValue: StoredValue { self?.storedValue ?? .null }
}

extension AttributeValue where Self: FixedWidthInteger {
    /// Integers.
    public static var attributeType: AttributeType { .integer }

    /// Creates the number, if it fits the type.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.int else { return nil }
        self.init(exactly: number)
    }

    /// The number, clamped to `Int64`.
    public var storedValue: StoredValue { .integer(Int64(clamping: self)) }
}

extension Int: AttributeValue {}
extension Int8: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}
extension UInt8: AttributeValue {}
extension UInt16: AttributeValue {}
extension UInt32: AttributeValue {}

extension Double: AttributeValue {
    /// Floating-point numbers.
    public static var attributeType: AttributeType { .double }
    /// Creates the number, if the stored value is a number.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.double else { return nil }
        self = number
    }
    /// The number.
    public var storedValue: StoredValue { .double(self) }
}

extension Float: AttributeValue {
    /// Floating-point numbers.
    public static var attributeType: AttributeType { .double }
    /// Creates the nearest number, if the stored value is a number.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.double else { return nil }
        self = Float(number)
    }
    /// The number.
    public var storedValue: StoredValue { .double(Double(self)) }
}

extension Bool: AttributeValue {
    /// Booleans.
    public static var attributeType: AttributeType { .boolean }
    /// Creates the Boolean, if the stored value is one.
    public init?(storedValue: StoredValue) {
        guard let value = storedValue.bool else { return nil }
        self = value
    }
    /// The boolean.
    public var storedValue: StoredValue { .boolean(self) }
}

extension String: AttributeValue {
    /// Strings.
    public static var attributeType: AttributeType { .string }
    /// Creates the string, if the stored value is one.
    public init?(storedValue: StoredValue) {
        guard let text = storedValue.string else { return nil }
        self = text
    }
    /// The string.
    public var storedValue: StoredValue { .string(self) }
}

extension Date: AttributeValue {
    /// Dates, with millisecond precision.
    public static var attributeType: AttributeType { .date }
    /// Creates the date, if the stored value is one.
    public init?(storedValue: StoredValue) {
        guard let date = storedValue.date else { return nil }
        self = date
    }
    /// The date.
    public var storedValue: StoredValue { .date(self) }
}

extension UUID: AttributeValue {
    /// UUIDs.
    public static var attributeType: AttributeType { .uuid }
    /// Creates the UUID, if the stored value is one.
    public init?(storedValue: StoredValue) {
        guard let value = storedValue.uuid else { return nil }
        self = value
    }
    /// The UUID.
    public var storedValue: StoredValue { .uuid(self) }
}

extension URL: AttributeValue {
    /// URLs.
    public static var attributeType: AttributeType { .url }
    /// Creates the URL, if the stored value is one.
    public init?(storedValue: StoredValue) {
        guard let url = storedValue.url else { return nil }
        self = url
    }
    /// The absolute string of the URL.
    public var storedValue: StoredValue { .url(absoluteString) }
}

extension Decimal: AttributeValue {
    /// Decimal numbers.
    public static var attributeType: AttributeType { .decimal }
    /// Creates the number, if the stored value is a decimal.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.decimal else { return nil }
        self = number
    }
    /// The number.
    public var storedValue: StoredValue { .decimal(self) }
}

extension Data: AttributeValue {
    /// Data.
    public static var attributeType: AttributeType { .binary }
    /// Creates the data, if the stored value is binary.
    public init?(storedValue: StoredValue) {
        guard let data = storedValue.binary else { return nil }
        self = data
    }
    /// The data.
    public var storedValue: StoredValue { .binary(self) }
}

extension JSONValue: AttributeValue {
    /// JSON.
    public static var attributeType: AttributeType { .json }
    /// Creates the JSON; null for nil.
    public init?(storedValue: StoredValue) {
        if storedValue.isNull {
            self = .null
        } else if let json = storedValue.json {
            self = json
        } else {
            return nil
        }
    }
    /// The JSON; nil for null.
    public var storedValue: StoredValue { self == .null ? .null : .json(self) }
}

/// An optional of any type.
protocol OptionalValue {
    /// The wrapped value; nil if there is none.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    var content: Any? { map { $0 as Any } }
}

/// Converts `Codable` values to and from JSON, their stored form.
package enum JSONCodedValue {
    /// Returns whether a type is an optional.
    package static func isOptional(_ type: Any.Type) -> Bool { type is any OptionalValue.Type }

    /// Returns the JSON of a value, with dates in ISO 8601.
    package static func json(_ value: some Encodable) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard let milliseconds = date.milliseconds else {
                throw EncodingError.invalidValue(
                    date, .init(codingPath: encoder.codingPath, debugDescription: "this date cannot be written as text")
                )
            }
            var container = encoder.singleValueContainer()
            try container.encode(DateText.iso(milliseconds))
        }
        return try JSONValue(parsing: encoder.encode(value))
    }

    /// Decodes a value from JSON. Dates are read as a sync reads them.
    package static func value<Value: Decodable>(_ json: JSONValue, as type: Value.Type = Value.self) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try JSONValue(from: decoder)
            guard let date = Coercion.storedValue(text, as: .date)?.date else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "this is not a date"))
            }
            return date
        }
        return try decoder.decode(type, from: Data(JSONText.bytes(of: json)))
    }
}

/// The check whether a stored value fits an ``AttributeValue`` type.
struct AttributeFitting<Value: AttributeValue>: ValueFitting {
    let integers: ClosedRange<Int64>?

    /// Creates the check; nil for types that every value of their attribute type fits.
    init?(_ type: Value.Type) {
        switch Value.self {
        case is any WideValue.Type: return nil
        case let integer as any FixedWidthInteger.Type: integers = Self.range(integer)
        default: integers = nil
        }
    }

    private static func range<Number: FixedWidthInteger>(_ type: Number.Type) -> ClosedRange<Int64> {
        Int64(clamping: Number.min)...Int64(clamping: Number.max)
    }

    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool { Value(storedValue: value) != nil }
}

/// The check whether a stored value fits a type with raw values.
struct RawFitting<Value: RawRepresentable>: ValueFitting where Value.RawValue: AttributeValue {
    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool {
        Value.RawValue(storedValue: value).map { Value(rawValue: $0) != nil } ?? false
    }
}

/// The check whether a stored value fits a `Codable` type that is stored as JSON.
struct CodedFitting<Value: Decodable>: ValueFitting {
    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool {
        value.json.map { (try? JSONCodedValue.value($0, as: Value.self)) != nil } ?? false
    }
}

/// A type that every value of its attribute type fits.
private protocol WideValue {}

extension Int: WideValue {}
extension Int64: WideValue {}
extension Double: WideValue {}
extension Float: WideValue {}
extension Bool: WideValue {}
extension String: WideValue {}
extension Date: WideValue {}
extension UUID: WideValue {}
extension URL: WideValue {}
extension Decimal: WideValue {}
extension Data: WideValue {}
extension JSONValue: WideValue {}
extension Optional: WideValue where Wrapped: WideValue {}
