public import Foundation

/// A value to compare with: what every ``PredicateArgument`` becomes.
///
/// A type of your own becomes an argument by naming the value it stands for:
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

    /// No value.
    public static let null = PredicateValue(.null)

    static func refused(_ message: String) -> PredicateValue {
        PredicateValue(SyncError(.invalidPredicate, message))
    }

    /// A list, for `IN` and `BETWEEN`.
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

    func literal(at place: PredicateSourceLocation) throws(SyncError) -> PredicateLiteral {
        switch content {
        case .success(let literal): return literal
        case .failure(let error): throw place.error(error.message)
        }
    }

    /// The literal as an element of a list.
    func element(at place: PredicateSourceLocation) throws(SyncError) -> PredicateLiteral {
        let literal = try literal(at: place)
        if case .list = literal { throw place.error("a list cannot hold a list") }
        return literal
    }
}

/// A Swift value that a condition can compare with: `.where("createdAt > %@", date)`.
///
/// An argument counts as what one would write in the text: a date as its ISO 8601 text, a UUID, URL or `Data`
/// (base64) as text, a number as its digits. What it means depends on the attribute it is compared with.
public protocol PredicateArgument: Sendable {
    /// The value it stands for.
    var predicateValue: PredicateValue { get }
}

extension PredicateValue: PredicateArgument {
    /// Itself.
    public var predicateValue: PredicateValue { self }
}

extension PredicateArgument where Self: BinaryInteger {
    /// Its digits.
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
    /// Its shortest digits; NaN and infinity are refused.
    public var predicateValue: PredicateValue {
        isFinite ? PredicateValue(.number("\(self)")) : .refused("\(self) is not a number to compare with")
    }
}

extension Float: PredicateArgument {
    /// As a double.
    public var predicateValue: PredicateValue { Double(self).predicateValue }
}

extension Decimal: PredicateArgument {
    /// Its digits; NaN is refused.
    public var predicateValue: PredicateValue {
        isNaN ? .refused("NaN is not a number to compare with") : PredicateValue(.number(description))
    }
}

extension Bool: PredicateArgument {
    /// True or false.
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
    /// Its text, in upper case.
    public var predicateValue: PredicateValue { uuidString.predicateValue }
}

extension URL: PredicateArgument {
    /// Its text.
    public var predicateValue: PredicateValue { absoluteString.predicateValue }
}

extension Data: PredicateArgument {
    /// Its base64 text.
    public var predicateValue: PredicateValue { base64EncodedString().predicateValue }
}

extension Date: PredicateArgument {
    /// Its ISO 8601 text, to the millisecond.
    public var predicateValue: PredicateValue {
        milliseconds.map { DateText.iso($0).predicateValue } ?? .refused("the date is outside the years 1 to 9999")
    }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    /// A list, for `IN` and `BETWEEN`.
    public var predicateValue: PredicateValue { .list(map(\.predicateValue)) }
}

extension StoredValue: PredicateArgument {
    /// What its value stands for; JSON its canonical text.
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

/// A value as a condition writes it. What it means depends on the attribute it is compared with.
package enum PredicateLiteral: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The number's text, in JSON's form.
    case number(String)
    case text(String)
    case list([PredicateLiteral])

    /// What it is, for messages.
    package var kind: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): value ? "true" : "false"
        case .number(let text): "the number \(text)"
        case .text: "a text"
        case .list(let values): "a list of \(values.count)"
        }
    }
}

/// A value in the form in which conditions compare it: a constant of the condition, or what an attribute holds.
///
/// Only values of the same case compare.
package enum PredicateConstant: Sendable {
    case integer(Int64)
    /// Of a decimal attribute, or for the order of an integer one, whatever its size.
    case exact(ExactNumber)
    case double(Double)
    case boolean(Bool)
    /// Milliseconds since 1970.
    case instant(Int64)
    /// Of a string or URL; a UUID in upper case; JSON in its canonical form.
    case text(String)
    case bytes(Data)
}

extension PredicateConstant: Hashable {
    /// Texts are the same if their bytes are.
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
    /// Whether it comes before another; false where they do not compare. Texts are ordered by their bytes.
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

    /// The value without case, if it is a text.
    var folded: PredicateConstant {
        if case .text(let text) = self { .text(CaseFolding.fold(text)) } else { self }
    }
}

extension StoredValue {
    /// The value as conditions compare it; nil for no value.
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
    /// The literal as a value of an attribute, by the coercions of payloads; nil if it does not fit.
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

    /// The number it is or spells, of any length; true is 1.
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

    /// In milliseconds.
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

    /// A text is read as JSON: a condition compares with `'"red"'`, not with `'red'`.
    private var json: JSONValue? {
        switch self {
        case .text(let text): try? JSONValue(parsing: text)
        case .number(let text): .number(text)
        case .boolean(let value): .bool(value)
        case .null, .list: nil
        }
    }
}
