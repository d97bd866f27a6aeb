public import Foundation

/// A Swift type that an attribute's values can be of.
///
/// Numbers, texts, dates, identifiers, bytes and optionals of them are. Enumerations with such raw values and `Codable`
/// types, which are kept as JSON, need not conform.
public protocol AttributeValue: Sendable {
    /// The type of the attribute.
    static var attributeType: AttributeType { get }
    /// Whether an attribute of this type may be nil.
    static var isOptional: Bool { get }
    /// The value that a row has; nil if it is none of this type.
    init?(storedValue: StoredValue)
    /// The value as a row has it.
    var storedValue: StoredValue { get }
}

extension AttributeValue {
    /// It has a value.
    public static var isOptional: Bool { false }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// The type of the value.
    public static var attributeType: AttributeType { Wrapped.attributeType }
    /// It may be nil.
    public static var isOptional: Bool { true }

    /// The value, or nil.
    public init?(storedValue: StoredValue) {
        if storedValue.isNull {
            self = Self.none
        } else if let value = Wrapped(storedValue: storedValue) {
            self = Self.some(value)
        } else {
            return nil
        }
    }

    /// The value, or nil.
    public var storedValue: StoredValue { self?.storedValue ?? .null }
}

extension AttributeValue where Self: FixedWidthInteger {
    /// Whole numbers.
    public static var attributeType: AttributeType { .integer }

    /// The number, if it has room here.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.int else { return nil }
        self.init(exactly: number)
    }

    /// The number; one that has no room in 64 bits with a sign is the largest that has.
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
    /// The number, if it is one.
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
    /// The nearest number.
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
    /// The boolean, if it is one.
    public init?(storedValue: StoredValue) {
        guard let value = storedValue.bool else { return nil }
        self = value
    }
    /// The boolean.
    public var storedValue: StoredValue { .boolean(self) }
}

extension String: AttributeValue {
    /// Texts.
    public static var attributeType: AttributeType { .string }
    /// The text, if it is one.
    public init?(storedValue: StoredValue) {
        guard let text = storedValue.string else { return nil }
        self = text
    }
    /// The text.
    public var storedValue: StoredValue { .string(self) }
}

extension Date: AttributeValue {
    /// Instants, to the millisecond.
    public static var attributeType: AttributeType { .date }
    /// The instant, if it is one.
    public init?(storedValue: StoredValue) {
        guard let date = storedValue.date else { return nil }
        self = date
    }
    /// The instant.
    public var storedValue: StoredValue { .date(self) }
}

extension UUID: AttributeValue {
    /// UUIDs.
    public static var attributeType: AttributeType { .uuid }
    /// The UUID, if it is one.
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
    /// The URL, if it is one.
    public init?(storedValue: StoredValue) {
        guard let url = storedValue.url else { return nil }
        self = url
    }
    /// The URL as it is written.
    public var storedValue: StoredValue { .url(absoluteString) }
}

extension Decimal: AttributeValue {
    /// Decimal numbers.
    public static var attributeType: AttributeType { .decimal }
    /// The number, if it is one.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.decimal else { return nil }
        self = number
    }
    /// The number.
    public var storedValue: StoredValue { .decimal(self) }
}

extension Data: AttributeValue {
    /// Bytes.
    public static var attributeType: AttributeType { .binary }
    /// The bytes, if it is some.
    public init?(storedValue: StoredValue) {
        guard let data = storedValue.binary else { return nil }
        self = data
    }
    /// The bytes.
    public var storedValue: StoredValue { .binary(self) }
}

extension JSONValue: AttributeValue {
    /// JSON.
    public static var attributeType: AttributeType { .json }
    /// The JSON; null for nil.
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

/// Any optional, where its type is not known.
protocol OptionalValue {
    /// The value, if there is one.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    var content: Any? { map { $0 as Any } }
}

/// `Codable` values as JSON, which is how attributes keep them.
package enum JSONCodedValue {
    /// Whether values of a type may be nil.
    package static func isOptional(_ type: Any.Type) -> Bool { type is any OptionalValue.Type }

    /// The JSON of a value.
    package static func json(_ value: some Encodable) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard let milliseconds = date.milliseconds else {
                throw EncodingError.invalidValue(
                    date, .init(codingPath: encoder.codingPath, debugDescription: "no text says this date"))
            }
            var container = encoder.singleValueContainer()
            try container.encode(DateText.iso(milliseconds))
        }
        return try JSONValue(parsing: encoder.encode(value))
    }

    /// The value that JSON is of.
    package static func value<Value: Decodable>(_ json: JSONValue, as type: Value.Type = Value.self) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try JSONValue(from: decoder)
            guard let date = Coercion.storedValue(text, as: .date)?.date else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no date can be read here"))
            }
            return date
        }
        return try decoder.decode(type, from: Data(JSONText.bytes(of: json)))
    }
}

/// Values of a type that attributes can be of.
struct AttributeFitting<Value: AttributeValue>: ValueFitting {
    let integers: ClosedRange<Int64>?

    /// Nil for types that any value of their kind fits.
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

/// Values that have raw values of a type that attributes can be of.
struct RawFitting<Value: RawRepresentable>: ValueFitting where Value.RawValue: AttributeValue {
    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool {
        Value.RawValue(storedValue: value).map { Value(rawValue: $0) != nil } ?? false
    }
}

/// Values that are kept as JSON.
struct CodedFitting<Value: Decodable>: ValueFitting {
    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool {
        value.json.map { (try? JSONCodedValue.value($0, as: Value.self)) != nil } ?? false
    }
}

/// A type that has room for any value of its attribute type.
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
