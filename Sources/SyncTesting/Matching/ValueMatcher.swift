import Foundation
import SyncCore

/// Compares an expected attribute value of a scenario with a stored value.
enum ValueMatcher {
    /// The tolerance for single-precision attributes. Core Data stores 32 bits of a number that a scenario gives as
    /// decimal digits.
    static let floatTolerance = 1e-6

    /// Returns whether a stored value equals an expected value.
    ///
    /// - Parameter isFloat: Whether the source of the model declares a single-precision attribute.
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

    /// Returns the stored value in the notation of scenarios.
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

    /// Compares dates in milliseconds, because a `Date` can differ from its text by less than a microsecond.
    private static func matches(_ text: String, _ value: Date) -> Bool {
        guard let expected = ScenarioDate.milliseconds(text) else { return false }
        return expected == ScenarioDate.milliseconds(value)
    }
}

/// Compares JSON values: numbers by value, and objects without the order of their members.
enum JSONComparison {
    static func equal(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let l), .bool(let r)): l == r
        case (.number(let l), .number(let r)): equal(l, r)
        case (.string(let l), .string(let r)): equal(l, toText: r)
        case (.array(let l), .array(let r)): l.count == r.count && zip(l, r).allSatisfy { equal($0, $1) }
        case (.object(let l), .object(let r)): equal(l, r)
        default: false
        }
    }

    /// Returns whether two number texts have the same value (`7`, `7.0`, `70e-1`).
    static func equal(_ left: String, _ right: String) -> Bool {
        if left == right { return true }
        guard Double(left) == Double(right) else { return false }
        // Integers and decimals beyond 53 bits may differ although their doubles are equal.
        guard let l = decimal(left), let r = decimal(right) else { return true }
        return l == r
    }

    /// Returns whether two strings have the same bytes. The `==` of Swift treats composed and decomposed letters as
    /// equal.
    static func equal(_ left: String, toText right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    private static func equal(_ left: [JSONValue.Member], _ right: [JSONValue.Member]) -> Bool {
        // A JSONValue is compared byte for byte, a String is not.
        let l = Dictionary(left.map { (JSONValue.string($0.key), $0.value) }) { $1 }
        let r = Dictionary(right.map { (JSONValue.string($0.key), $0.value) }) { $1 }
        return l.count == r.count && l.allSatisfy { key, value in r[key].map { equal(value, $0) } ?? false }
    }

    private static func decimal(_ text: String) -> Decimal? {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}

/// Dates in the notation of scenarios: `2024-02-29T18:29:59Z`, with an optional fraction.
///
/// It does not use the parser of the library, because the scenarios test that parser.
enum ScenarioDate {
    /// Returns the milliseconds since 1970; nil if the text is not a UTC date in this notation.
    static func milliseconds(_ text: String) -> Int64? {
        let form = /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?Z/
        guard let match = text.wholeMatch(of: form)?.output,
            let year = Int64(match.1), let month = Int64(match.2), let day = Int64(match.3),
            let hour = Int64(match.4), let minute = Int64(match.5), let second = Int64(match.6)
        else { return nil }
        let isReal = (1...12).contains(month) && (1...31).contains(day) && hour < 24 && minute < 60 && second < 60
        guard isReal else { return nil }
        let fraction = Int64((match.7.map(String.init) ?? "").padding(toLength: 3, withPad: "0", startingAt: 0)) ?? 0
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        return seconds * 1000 + fraction
    }

    static func milliseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? .max
    }

    static func date(_ text: String) -> Date? {
        milliseconds(text).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    static func text(_ date: Date) -> String {
        let total = milliseconds(date)
        let (day, time) = total.quotientAndRemainder(floor: 86_400_000)
        let (year, month, dayOfMonth) = civil(day)
        let seconds = time / 1000
        let fraction = time % 1000 == 0 ? "" : "." + padded(time % 1000, 3)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T\(clock)\(fraction)Z"
    }

    // MARK: Calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms")

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.quotientAndRemainder(floor: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(floor: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

extension Int64 {
    fileprivate func quotientAndRemainder(floor divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

// MARK: - JSONValue+ScenarioText

extension JSONValue {
    /// The value as one line of JSON, for failure reports.
    var scenarioText: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[\(elements.map(\.scenarioText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.key)): \($0.value.scenarioText)" }.joined(separator: ", "))}"
        }
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16) }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\t": "\\t"
            case "\r": "\\r"
            default: scalar.value < 0x20 ? "\\u00" + (scalar.value < 16 ? "0" : "") + hex(scalar) : "\(scalar)"
            }
        }
        return "\"\(escaped.joined())\""
    }
}
