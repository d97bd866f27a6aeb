public import Foundation

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
