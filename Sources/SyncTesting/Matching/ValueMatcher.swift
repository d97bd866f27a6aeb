import Foundation
import SyncCore

/// Compares the value a scenario expects of an attribute with the one a row has.
enum ValueMatcher {
    /// How far a float may be off: Core Data keeps 32 bits, a scenario writes decimal digits.
    static let floatTolerance = 1e-6

    /// - Parameter isFloat: whether the model's source declares a single-precision attribute.
    static func matches(_ expected: JSONValue, _ found: StoredValue, isFloat: Bool = false) -> Bool {
        switch (found, expected) {
        case (.null, .null): true
        case (.integer(let value), .number(let text)): JSONComparison.equal(text, String(value))
        case (.double(let value), .number(let text)): matches(text, value, isFloat: isFloat)
        case (.decimal(let value), .number(let text)): JSONComparison.equal(text, value.description)
        case (.boolean(let value), .bool(let flag)): value == flag
        case (.boolean(let value), .number(let text)): JSONComparison.equal(text, value ? "1" : "0")
        case (.string(let value), .string(let text)): JSONComparison.equal(value, toText: text)
        case (.date(let value), .string(let text)): matches(text, value)
        case (.uuid(let value), .string(let text)): value.uuidString == text
        case (.url(let value), .string(let text)): JSONComparison.equal(value, toText: text)
        case (.binary(let value), .string(let text)): Data(base64Encoded: text) == value
        case (.json(let value), _): JSONComparison.equal(expected, value)
        default: false
        }
    }

    /// The found value as a scenario would write it.
    static func json(_ value: StoredValue) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let value): .number(String(value))
        case .double(let value): .number("\(value)")
        case .decimal(let value): .number(value.description)
        case .boolean(let value): .bool(value)
        case .string(let value): .string(value)
        case .date(let value): .string(ScenarioDate.text(value))
        case .uuid(let value): .string(value.uuidString)
        case .url(let value): .string(value)
        case .binary(let value): .string(value.base64EncodedString())
        case .json(let value): value
        }
    }

    private static func matches(_ text: String, _ value: Double, isFloat: Bool) -> Bool {
        guard let expected = Double(text) else { return false }
        return isFloat ? abs(expected - value) <= floatTolerance : expected == value
    }

    /// Dates are equal as instants, to the millisecond: a `Date` is a few 10⁻⁷ s off its text.
    private static func matches(_ text: String, _ value: Date) -> Bool {
        guard let expected = ScenarioDate.milliseconds(text) else { return false }
        return expected == ScenarioDate.milliseconds(value)
    }
}
