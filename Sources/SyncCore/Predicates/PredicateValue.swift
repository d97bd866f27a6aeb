public import Foundation

/// A value in a condition. Each ``PredicateArgument`` is converted to one.
package struct PredicateValue: Sendable, Hashable {
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
    func element(at location: PredicateSourceLocation) throws(SyncError) -> PredicateLiteral {
        let literal = try literal(at: location)
        if case .list = literal { throw location.error("a list cannot contain a list") }
        return literal
    }
}

/// A Swift value that a condition can compare with: `.where("createdAt > %@", date)`.
///
/// An argument is equivalent to its text in a condition: a date in ISO 8601, a UUID or URL as text, `Data` in base64, a
/// number as digits. The attribute that it is compared with determines its type. Arrays are lists, for `IN` and
/// `BETWEEN`. A condition with a value that has no text, such as NaN, throws when it is used.
///
/// An enum with such raw values may conform too, and stands for its raw value. Other types cannot be compared with:
///
/// ```swift
/// extension Status: PredicateArgument {}
/// ```
public protocol PredicateArgument: Sendable {}

extension PredicateValue: PredicateArgument {}
extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}
extension Double: PredicateArgument {}
extension Float: PredicateArgument {}
extension Decimal: PredicateArgument {}
extension Bool: PredicateArgument {}
extension String: PredicateArgument {}
extension Substring: PredicateArgument {}
extension UUID: PredicateArgument {}
extension URL: PredicateArgument {}
extension Data: PredicateArgument {}
extension Date: PredicateArgument {}
extension Array: PredicateArgument where Element: PredicateArgument {}
extension StoredValue: PredicateArgument {}

extension PredicateArgument {
    /// The value for conditions.
    package var predicateValue: PredicateValue {
        switch self {
        case let value as PredicateValue: value
        case let value as StoredValue: PredicateValue(stored: value)
        case let value as Bool: PredicateValue(.boolean(value))
        case let value as any BinaryInteger: PredicateValue(.number("\(value)"))
        case let value as Double: PredicateValue(value)
        case let value as Float: PredicateValue(Double(value))
        case let value as Decimal: PredicateValue(value)
        case let value as String: PredicateValue(.text(value))
        case let value as Substring: PredicateValue(.text(String(value)))
        case let value as Date: PredicateValue(value)
        case let value as UUID: PredicateValue(.text(value.uuidString))
        case let value as URL: PredicateValue(.text(value.absoluteString))
        case let value as Data: PredicateValue(.text(value.base64EncodedString()))
        case let values as [any PredicateArgument]: .list(values.map(\.predicateValue))
        case let value as any RawRepresentable: PredicateValue(rawValueOf: value)
        default: .refused("a \(Self.self) cannot be compared with")
        }
    }
}

extension PredicateValue {
    fileprivate init(_ value: Double) {
        self = value.isFinite ? PredicateValue(.number("\(value)")) : .refused("\(value) cannot be compared with")
    }

    fileprivate init(_ value: Decimal) {
        self =
            value.isNaN
            ? .refused("NaN cannot be compared with") : PredicateValue(.number(value.description))
    }

    /// ISO 8601, with milliseconds.
    fileprivate init(_ value: Date) {
        self =
            value.milliseconds.map { PredicateValue(.text(DateText.iso($0))) }
            ?? .refused("the date is outside the range of years 1 to 9999")
    }

    fileprivate init(rawValueOf value: some RawRepresentable) {
        self =
            (value.rawValue as? any PredicateArgument)?.predicateValue
            ?? .refused("a \(type(of: value)) cannot be compared with")
    }

    /// JSON is in its canonical form.
    fileprivate init(stored value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): value.predicateValue
            case .double(let value): PredicateValue(value)
            case .decimal(let value): PredicateValue(value)
            case .boolean(let value): PredicateValue(.boolean(value))
            case .string(let value), .url(let value): PredicateValue(.text(value))
            case .date(let value): PredicateValue(value)
            case .uuid(let value): value.predicateValue
            case .binary(let value): value.predicateValue
            case .json(let value): PredicateValue(.text(String(decoding: CanonicalJSON.bytes(value), as: UTF8.self)))
            }
    }
}

/// A literal of a condition. The attribute that it is compared with determines its type.
package enum PredicateLiteral: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The text of the number, as in JSON.
    case number(String)
    case text(String)
    case list([PredicateLiteral])

    /// The description of the literal for messages.
    package var kind: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): value ? "true" : "false"
        case .number(let text): "the number \(text)"
        case .text: "a string"
        case .list(let values): "a list of \(values.count)"
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
    /// Compares texts by their bytes.
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
    /// Returns whether the value is less than another; false if they are not comparable. Texts are ordered by their
    /// bytes.
    func isBefore(_ other: PredicateConstant) -> Bool {
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

    /// The value with its case folded, if it is a text.
    var folded: PredicateConstant {
        if case .text(let text) = self { .text(CaseFolding.fold(text)) } else { self }
    }
}

extension StoredValue {
    /// The comparable form of the value; nil for nil.
    var constant: PredicateConstant? {
        switch self {
        case .null: nil
        case .integer(let value): .integer(value)
        case .double(let value): .double(value)
        case .decimal(let value): ExactNumber("\(value)").map(PredicateConstant.exact)
        case .boolean(let value): .boolean(value)
        case .string(let text), .url(let text): .text(text)
        case .date(let value): value.milliseconds.map(PredicateConstant.instant)
        case .uuid(let value): .text(value.uuidString)
        case .binary(let value): .bytes(value)
        case .json(let value): .text(String(decoding: CanonicalJSON.bytes(value), as: UTF8.self))
        }
    }
}

// MARK: - PredicateLiteral+Constant

extension PredicateLiteral {
    /// Converts the literal to the type of an attribute, as a payload value is coerced; nil if it does not fit.
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

    /// The number, of any length. A text is read as a number, and true is 1.
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
        case .number(let text), .text(let text): ExactNumber(text) == nil ? nil : finite(Double(text))
        case .boolean(let value): value ? 1 : 0
        case .null, .list: nil
        }
    }

    private func finite(_ value: Double?) -> Double? {
        value.flatMap { $0.isFinite ? $0 : nil }
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

    /// The date in milliseconds since 1970.
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

    /// The JSON value. A text is parsed as JSON, so a condition compares with `'"red"'`, not `'red'`.
    private var json: JSONValue? {
        switch self {
        case .text(let text): try? JSONValue(parsing: text)
        case .number(let text): .number(text)
        case .boolean(let value): .bool(value)
        case .null, .list: nil
        }
    }
}
