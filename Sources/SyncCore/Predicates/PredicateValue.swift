public import Foundation

/// The value of an argument in a condition. ``PredicateArgument/predicateValue`` returns this value.
public struct PredicateValue: Sendable, Hashable {
    private let content: Result<PredicateLiteral, SyncError>

    init(_ literal: PredicateLiteral) { content = .success(literal) }
    private init(_ error: SyncError) { content = .failure(error) }

    /// The value nil.
    package static let null = PredicateValue(.null)

    static func refused(_ message: String) -> PredicateValue {
        PredicateValue(SyncError(.invalidPredicate, message))
    }

    /// Returns a list, for `IN` and `BETWEEN`.
    package static func list(_ values: [PredicateValue]) -> PredicateValue {
        var literals: [PredicateLiteral] = []
        for value in values {
            do {
                literals.append(try value.element(at: .none))
            } catch {
                return PredicateValue(error)
            }
        }
        return PredicateValue(.list(literals))
    }

    func literal(at location: PredicateSourceLocation) throws(SyncError) -> PredicateLiteral {
        switch content {
        case .success(let literal): return literal
        case .failure(let error): throw location.error(error.message)
        }
    }

    /// Returns the literal as an element of a list.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` if the value is invalid or a list.
    func element(at location: PredicateSourceLocation) throws(SyncError) -> PredicateLiteral {
        let literal = try literal(at: location)
        if case .list = literal { throw location.error("a list cannot contain a list") }
        return literal
    }
}

/// A Swift type whose values can be arguments of a condition, as in `.where("createdAt > %@", date)`.
///
/// An argument is equivalent to a literal in the condition. A date is equivalent to an ISO 8601 string, `Data` to a
/// base64 string, and a UUID or URL to its string. The attribute in the comparison determines the type of the argument.
/// An array is a list for `IN` and `BETWEEN`. For a value without a literal, such as NaN, each call that uses the
/// condition throws ``SyncError`` `invalidPredicate`.
///
/// An enumeration can also conform if its raw type conforms. Each case is equivalent to its raw value:
///
/// ```swift
/// extension Status: PredicateArgument {}
/// ```
public protocol PredicateArgument: Sendable {
    /// The value of the argument in a condition. Types that conform to ``AttributeValue``, and enumerations whose raw
    /// type conforms to ``PredicateArgument``, have a default implementation.
    var predicateValue: PredicateValue { get }
}

extension PredicateArgument where Self: AttributeValue {
    /// The stored value, as a predicate value.
    public var predicateValue: PredicateValue { PredicateValue(stored: storedValue) }
}

extension PredicateArgument where Self: RawRepresentable, RawValue: PredicateArgument {
    /// The raw value, as a predicate value.
    public var predicateValue: PredicateValue { rawValue.predicateValue }
}

extension PredicateArgument where Self: AttributeValue & RawRepresentable, RawValue: PredicateArgument {
    /// The stored value, as a predicate value.
    public var predicateValue: PredicateValue { PredicateValue(stored: storedValue) }
}

extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension Double: PredicateArgument {}
extension Float: PredicateArgument {}
extension Decimal: PredicateArgument {}
extension Bool: PredicateArgument {}
extension String: PredicateArgument {}
extension UUID: PredicateArgument {}
extension URL: PredicateArgument {}
extension Data: PredicateArgument {}
extension Date: PredicateArgument {}

extension PredicateValue: PredicateArgument {
    /// The value itself.
    public var predicateValue: PredicateValue { self }
}

extension StoredValue: PredicateArgument {
    /// The stored value, as a predicate value.
    public var predicateValue: PredicateValue { PredicateValue(stored: self) }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    /// The elements as a list, for `IN` and `BETWEEN`. A list cannot contain lists.
    public var predicateValue: PredicateValue { .list(map(\.predicateValue)) }
}

extension PredicateValue {
    /// Creates the value of a stored value. A date becomes its text in ISO 8601, with milliseconds unless they are zero.
    /// JSON becomes its canonical text.
    fileprivate init(stored value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): PredicateValue(.number("\(value)"))
            case .double(let value) where !value.isFinite: .refused("\(value) cannot be used in a comparison")
            case .double(let value): PredicateValue(.number("\(value)"))
            case .decimal(let value) where value.isNaN: .refused("NaN cannot be used in a comparison")
            case .decimal(let value): PredicateValue(.number(value.description))
            case .boolean(let value): PredicateValue(.boolean(value))
            case .string(let value), .url(let value): PredicateValue(.text(value))
            case .date(let value):
                value.milliseconds.map { PredicateValue(.text(DateText.iso($0))) }
                    ?? .refused("the date is outside the range of years 1 to 9999")
            case .uuid(let value): PredicateValue(.text(value.uuidString))
            case .binary(let value): PredicateValue(.text(value.base64EncodedString()))
            case .json(let value): PredicateValue(.text(String(decoding: CanonicalJSON.bytes(value), as: UTF8.self)))
            }
    }
}

/// A literal of a condition. The attribute in the comparison determines the type of the literal.
package enum PredicateLiteral: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The text of the number, as in JSON.
    case number(String)
    case text(String)
    case list([PredicateLiteral])

    /// The description of the literal in messages, such as `the number 5`.
    package var kind: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): value ? "true" : "false"
        case .number(let text): "the number \(text)"
        case .text: "a string"
        case .list(let values): "a list of length \(values.count)"
        }
    }
}

/// A value in its comparable form: a constant of a condition, or the value of an attribute.
///
/// Only values of the same case are comparable.
package enum PredicateConstant: Sendable {
    case integer(Int64)
    /// A decimal, or a bound for integers, of any size.
    case exact(ExactNumber)
    case double(Double)
    case boolean(Bool)
    /// Milliseconds since 1970.
    case instant(Int64)
    /// A string or URL, a UUID in upper case, or JSON in its canonical form.
    case text(String)
    case bytes(Data)
}

extension PredicateConstant: Hashable {
    /// Returns whether two values are equal. Strings are compared byte for byte.
    package static func == (left: PredicateConstant, right: PredicateConstant) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.exact(let left), .exact(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.boolean(let left), .boolean(let right)): left == right
        case (.instant(let left), .instant(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value), .instant(let value): hasher.combine(value)
        case .exact(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .boolean(let value): hasher.combine(value)
        case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .bytes(let value): hasher.combine(value)
        }
    }
}

extension PredicateConstant {
    /// Returns whether the value is less than another; false if they are not comparable. Strings are ordered by their
    /// bytes.
    package func isBefore(_ other: PredicateConstant) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.exact(let left), .exact(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.boolean(let left), .boolean(let right)): !left && right
        case (.instant(let left), .instant(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: false
        }
    }

    /// The value with its case folded, if it is a string.
    package var folded: PredicateConstant {
        if case .text(let text) = self { .text(CaseFolding.fold(text)) } else { self }
    }
}

// MARK: - PredicateLiteral+Constant

extension PredicateLiteral {
    /// Converts the literal to the type of an attribute, without its transformers and format; nil if it is not valid
    /// for the type.
    func constant(as type: AttributeType) -> PredicateConstant? {
        switch type {
        case .integer: number?.integer.map(PredicateConstant.integer)
        case .double: double.map(PredicateConstant.double)
        case .decimal: number.flatMap { $0.text == nil ? nil : .exact($0) }
        case .boolean: boolean.map(PredicateConstant.boolean)
        case .string: (text ?? number?.text).map(PredicateConstant.text)
        case .date: instant.map(PredicateConstant.instant)
        case .uuid: text.flatMap(UUID.init(uuidString:)).map { .text($0.uuidString) }
        case .url: text.map(PredicateConstant.text)
        case .binary: text.flatMap { Data(base64Encoded: $0) }.map(PredicateConstant.bytes)
        case .json: json.map { .text(String(decoding: CanonicalJSON.bytes($0), as: UTF8.self)) }
        case .transformable: nil
        }
    }

    /// The literal as a number of any length; nil if it is not a number. A string is parsed as a number, and true is 1.
    var number: ExactNumber? {
        switch self {
        case .number(let text), .text(let text): ExactNumber(text)
        case .boolean(let value): ExactNumber(value ? "1" : "0")
        case .null, .list: nil
        }
    }

    private var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    private var double: Double? {
        switch self {
        case .number(let text), .text(let text):
            ExactNumber(text) == nil ? nil : Double(text).flatMap { $0.isFinite ? $0 : nil }
        case .boolean(let value): value ? 1 : 0
        case .null, .list: nil
        }
    }

    private var boolean: Bool? {
        if let text {
            switch text.lowercased() {
            case "true", "yes", "1": return true
            case "false", "no", "0": return false
            default: return nil
            }
        }
        guard let integer = number?.integer, integer == 0 || integer == 1 else { return nil }
        return integer == 1
    }

    /// The literal as a date, in milliseconds since 1970; nil if it is not a date.
    private var instant: Int64? {
        switch self {
        case .text(let text): Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
        case .number:
            number?.text.flatMap { text in
                Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds(number: $0) }
            }
        case .null, .boolean, .list: nil
        }
    }

    /// The literal as a JSON value. A string is parsed as JSON, so a condition compares with `'"red"'`, not `'red'`.
    private var json: JSONValue? {
        switch self {
        case .text(let text): try? JSONValue(parsing: text)
        case .number(let text): .number(text)
        case .boolean(let value): .bool(value)
        case .null, .list: nil
        }
    }
}
