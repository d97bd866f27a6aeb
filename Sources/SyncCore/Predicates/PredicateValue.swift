public import Foundation

/// A value in a condition. Each ``PredicateArgument`` is converted to one.
///
/// To use your own type as an argument, return the value that it stands for:
///
/// ```swift
/// extension Status: PredicateArgument {
///     var predicateValue: PredicateValue { rawValue.predicateValue }
/// }
/// ```
public struct PredicateValue: Sendable, Hashable {
    private let content: Result<PredicateLiteral, SyncError>

    init(_ literal: PredicateLiteral) { content = .success(literal) }
    private init(_ error: SyncError) { content = .failure(error) }

    /// The value nil.
    public static let null = PredicateValue(.null)

    static func refused(_ message: String) -> PredicateValue {
        PredicateValue(SyncError(.invalidPredicate, message))
    }

    /// Returns a list, for `IN` and `BETWEEN`.
    public static func list(_ values: [PredicateValue]) -> PredicateValue {
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
/// number as digits. The attribute that it is compared with determines its type.
public protocol PredicateArgument: Sendable {
    /// The value for conditions.
    var predicateValue: PredicateValue { get }
}

extension PredicateValue: PredicateArgument {
    /// The value itself.
    public var predicateValue: PredicateValue { self }
}

extension PredicateArgument where Self: BinaryInteger {
    /// The digits of the number.
    public var predicateValue: PredicateValue { PredicateValue(.number(String(self))) }
}

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

extension Double: PredicateArgument {
    /// The shortest digits of the number. A condition with NaN or infinity throws when it is used.
    public var predicateValue: PredicateValue {
        isFinite ? PredicateValue(.number("\(self)")) : .refused("\(self) cannot be compared with")
    }
}

extension Float: PredicateArgument {
    /// The digits of the number as a double.
    public var predicateValue: PredicateValue { Double(self).predicateValue }
}

extension Decimal: PredicateArgument {
    /// The digits of the number. A condition with NaN throws when it is used.
    public var predicateValue: PredicateValue {
        isNaN ? .refused("NaN cannot be compared with") : PredicateValue(.number(description))
    }
}

extension Bool: PredicateArgument {
    /// The Boolean.
    public var predicateValue: PredicateValue { PredicateValue(.boolean(self)) }
}

extension String: PredicateArgument {
    /// The text.
    public var predicateValue: PredicateValue { PredicateValue(.text(self)) }
}

extension Substring: PredicateArgument {
    /// The text.
    public var predicateValue: PredicateValue { String(self).predicateValue }
}

extension UUID: PredicateArgument {
    /// The UUID in upper case.
    public var predicateValue: PredicateValue { uuidString.predicateValue }
}

extension URL: PredicateArgument {
    /// The absolute string of the URL.
    public var predicateValue: PredicateValue { absoluteString.predicateValue }
}

extension Data: PredicateArgument {
    /// The data in base64.
    public var predicateValue: PredicateValue { base64EncodedString().predicateValue }
}

extension Date: PredicateArgument {
    /// The date in ISO 8601, with milliseconds.
    public var predicateValue: PredicateValue {
        milliseconds.map { DateText.iso($0).predicateValue }
            ?? .refused("the date is outside the range of years 1 to 9999")
    }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    /// A list, for `IN` and `BETWEEN`.
    public var predicateValue: PredicateValue { .list(map(\.predicateValue)) }
}

extension StoredValue: PredicateArgument {
    /// The value of the attribute's type. JSON is in its canonical form.
    public var predicateValue: PredicateValue {
        switch self {
        case .null: .null
        case .integer(let value): value.predicateValue
        case .double(let value): value.predicateValue
        case .decimal(let value): value.predicateValue
        case .boolean(let value): value.predicateValue
        case .string(let value), .url(let value): value.predicateValue
        case .date(let value): value.predicateValue
        case .uuid(let value): value.predicateValue
        case .binary(let value): value.predicateValue
        case .json(let value): String(decoding: CanonicalJSON.bytes(value), as: UTF8.self).predicateValue
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
