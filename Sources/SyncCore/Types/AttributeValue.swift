public import Foundation

/// A Swift type for the values of an attribute.
///
/// These types conform: `Bool`, `String`, `Double`, `Float`, `Decimal`, `Date`, `UUID`, `URL`, `Data` and
/// ``JSONValue``. All integer types except `UInt`, `UInt64` and the 128-bit types also conform. An optional of a
/// conforming type also conforms.
///
/// A `Codable` type, or an enumeration whose raw type conforms, need not conform. The values of the enumeration are
/// stored as raw values, and the values of any other `Codable` type as JSON.
public protocol AttributeValue: Sendable {
    /// The attribute type of the values, and the conversion of the values to and from stored values.
    static var attributeCoding: AttributeCoding<Self> { get }
}

/// The attribute type of a Swift type, and the conversion between Swift values and stored values.
///
/// ```swift
/// extension Money: AttributeValue {
///     static let attributeCoding = AttributeCoding<Money>(
///         .integer, decode: { $0.int.map(Money.init(cents:)) }, encode: { .integer($0.cents) })
/// }
/// ```
public struct AttributeCoding<Value>: Sendable {
    fileprivate let type: AttributeType
    fileprivate let isOptional: Bool
    fileprivate let decode: @Sendable (StoredValue) -> Value?
    fileprivate let encode: @Sendable (Value) -> StoredValue

    /// Creates a coding for a type that is not optional.
    ///
    /// - Parameters:
    ///   - type: The type of the attribute.
    ///   - decode: A function that converts a stored value to a Swift value, or returns nil if the stored value does
    ///     not fit the Swift type.
    ///   - encode: A function that converts a Swift value to a stored value.
    public init(
        _ type: AttributeType, decode: @escaping @Sendable (StoredValue) -> Value?,
        encode: @escaping @Sendable (Value) -> StoredValue
    ) {
        self.init(type, isOptional: false, decode: decode, encode: encode)
    }

    fileprivate init(
        _ type: AttributeType, isOptional: Bool, decode: @escaping @Sendable (StoredValue) -> Value?,
        encode: @escaping @Sendable (Value) -> StoredValue
    ) {
        self.type = type
        self.isOptional = isOptional
        self.decode = decode
        self.encode = encode
    }
}

extension AttributeValue {
    /// The type of the attribute.
    package static var attributeType: AttributeType { attributeCoding.type }
    /// Whether an attribute of this type is optional.
    package static var isOptional: Bool { attributeCoding.isOptional }

    /// Creates a value from a stored value, or returns nil if the stored value does not fit the type.
    package init?(storedValue: StoredValue) {
        guard let value = Self.attributeCoding.decode(storedValue) else { return nil }
        self = value
    }

    /// The stored form of the value.
    package var storedValue: StoredValue { Self.attributeCoding.encode(self) }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// The coding of the wrapped type. Nil is stored as null.
    public static var attributeCoding: AttributeCoding<Self> {
        AttributeCoding<Self>(
            Wrapped.attributeType, isOptional: true,
            decode: { $0.isNull ? .some(nil) : Wrapped(storedValue: $0).map { .some($0) } },
            encode: { $0?.storedValue ?? .null })
    }
}

extension AttributeValue where Self: FixedWidthInteger {
    /// The coding of integers. A stored integer outside the range of the type does not fit the type. A value outside
    /// the range of `Int64` is stored as the nearest `Int64`.
    public static var attributeCoding: AttributeCoding<Self> {
        AttributeCoding<Self>(
            .integer, decode: { $0.int.flatMap(Self.init(exactly:)) }, encode: { .integer(Int64(clamping: $0)) })
    }
}

extension Int: AttributeValue {}
extension Int8: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}
extension UInt8: AttributeValue {}
extension UInt16: AttributeValue {}
extension UInt32: AttributeValue {}

extension AttributeValue where Self: BinaryFloatingPoint {
    /// The coding of floating-point numbers. A stored number is converted to the nearest value of the type.
    public static var attributeCoding: AttributeCoding<Self> {
        AttributeCoding<Self>(.double, decode: { $0.double.map { Self($0) } }, encode: { .double(Double($0)) })
    }
}

extension Double: AttributeValue {}
extension Float: AttributeValue {}

extension Bool: AttributeValue {
    /// The coding of a `Bool` in an attribute of type `boolean`.
    public static let attributeCoding = AttributeCoding<Bool>(
        .boolean, decode: { $0.bool }, encode: { .boolean($0) })
}

extension String: AttributeValue {
    /// The coding of a `String` in an attribute of type `string`.
    public static let attributeCoding = AttributeCoding<String>(
        .string, decode: { $0.string }, encode: { .string($0) })
}

extension Date: AttributeValue {
    /// The coding of a `Date` in an attribute of type `date`. Dates are stored with millisecond precision.
    public static let attributeCoding = AttributeCoding<Date>(
        .date, decode: { $0.date }, encode: { .date($0) })
}

extension UUID: AttributeValue {
    /// The coding of a `UUID` in an attribute of type `uuid`.
    public static let attributeCoding = AttributeCoding<UUID>(
        .uuid, decode: { $0.uuid }, encode: { .uuid($0) })
}

extension URL: AttributeValue {
    /// The coding of a `URL` in an attribute of type `url`. The absolute string of the URL is stored.
    public static let attributeCoding = AttributeCoding<URL>(
        .url, decode: { $0.url }, encode: { .url($0.absoluteString) })
}

extension Decimal: AttributeValue {
    /// The coding of a `Decimal` in an attribute of type `decimal`.
    public static let attributeCoding = AttributeCoding<Decimal>(
        .decimal, decode: { $0.decimal }, encode: { .decimal($0) })
}

extension Data: AttributeValue {
    /// The coding of `Data` in an attribute of type `binary`.
    public static let attributeCoding = AttributeCoding<Data>(
        .binary, decode: { $0.binary }, encode: { .binary($0) })
}

extension JSONValue: AttributeValue {
    /// The coding of a JSON value in an attribute of type `json`. A JSON null is stored as null.
    public static let attributeCoding = AttributeCoding<JSONValue>(
        .json, decode: { $0.isNull ? .null : $0.json }, encode: { $0 == .null ? .null : .json($0) })
}

/// A protocol for all optionals, which lets code test whether a type is an optional.
protocol OptionalValue {
    /// The wrapped value; nil if the optional is nil.
    var content: Any? { get }
    static var wrappedType: Any.Type { get }
}

extension Optional: OptionalValue {
    var content: Any? { map { $0 as Any } }
    static var wrappedType: Any.Type { Wrapped.self }
}

/// Converts `Codable` values to and from the JSON in the store.
package enum JSONCodedValue {
    /// Returns whether a type is an optional.
    package static func isOptional(_ type: Any.Type) -> Bool { type is any OptionalValue.Type }

    /// Returns the name of a type in messages; for an optional, the name of the wrapped type.
    static func name(of type: Any.Type) -> String { "\((type as? any OptionalValue.Type)?.wrappedType ?? type)" }

    /// Returns the JSON of a value. Dates become ISO 8601 strings.
    ///
    /// - Throws: `EncodingError` if the value cannot be encoded.
    package static func json(_ value: some Encodable) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard let milliseconds = date.milliseconds else {
                throw EncodingError.invalidValue(
                    date,
                    .init(
                        codingPath: encoder.codingPath,
                        debugDescription: "the date is outside the range of years 1 to 9999")
                )
            }
            var container = encoder.singleValueContainer()
            try container.encode(DateText.iso(milliseconds))
        }
        return try JSONValue(parsing: encoder.encode(value))
    }

    /// Decodes a value from JSON. A date may have any format that a date attribute accepts.
    ///
    /// - Throws: `DecodingError` if the JSON does not fit the type.
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

    /// Returns which member of the JSON cannot be decoded, without its value; nil for an error of the type's own
    /// decoding.
    package static func reason(_ error: any Error) -> String? {
        func path(_ keys: [any CodingKey]) -> String {
            let path = keys.reduce("") { path, key in
                key.intValue.map { "\(path)[\($0)]" } ?? (path.isEmpty ? "" : "\(path).") + key.stringValue
            }
            return path.isEmpty ? "the value" : "'\(path)'"
        }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): return "\(path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): return "\(path(context.codingPath)) is null"
        case .typeMismatch(let type, let context): return "\(path(context.codingPath)) is not of type \(type)"
        case .dataCorrupted(let context): return "\(path(context.codingPath)) is not valid"
        case nil: return nil
        @unknown default: return nil
        }
    }
}

/// The check whether a stored value fits an ``AttributeValue`` type.
struct AttributeFitting<Value: AttributeValue>: ValueFitting {
    let integers: ClosedRange<Int64>?

    /// Creates the check; nil if every value of the attribute type fits the Swift type, so that no check is needed.
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

    var typeName: String { JSONCodedValue.name(of: Value.self) }

    func fits(_ value: StoredValue) -> Bool { Value(storedValue: value) != nil }
}

/// The check whether a stored value fits a type with raw values.
struct RawFitting<Value: RawRepresentable>: ValueFitting where Value.RawValue: AttributeValue {
    var typeName: String { JSONCodedValue.name(of: Value.self) }

    var cases: [String] {
        guard let type = Value.self as? any CaseIterable.Type else { return [] }
        return Self.rawValues(of: type)
    }

    private static func rawValues<Cases: CaseIterable>(of type: Cases.Type) -> [String] {
        type.allCases.compactMap { ($0 as? Value).map { "\($0.rawValue)" } }
    }

    func fits(_ value: StoredValue) -> Bool {
        Value.RawValue(storedValue: value).map { Value(rawValue: $0) != nil } ?? false
    }
}

/// The check whether a stored value fits a `Codable` type that is stored as JSON.
struct CodedFitting<Value: Decodable>: ValueFitting {
    var typeName: String { JSONCodedValue.name(of: Value.self) }

    func fits(_ value: StoredValue) -> Bool {
        value.json.map { (try? JSONCodedValue.value($0, as: Value.self)) != nil } ?? false
    }

    func misfitReason(_ value: StoredValue) -> String? {
        do {
            _ = try value.json.map { try JSONCodedValue.value($0, as: Value.self) }
            return nil
        } catch {
            return JSONCodedValue.reason(error)
        }
    }
}

/// A type that needs no check, because every value of its attribute type can be converted. The exception is a URL that
/// `URL` cannot parse.
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
