import Foundation
import SyncCore
import Testing

@testable import SyncTesting

@Suite("Comparison of attribute values")
struct ValueMatcherTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var expected: JSONValue
        var found: StoredValue
        var isFloat = false
        var testDescription: String { "\(expected) against \(found)" }

        init(_ expected: JSONValue, _ found: StoredValue, isFloat: Bool = false) {
            self.expected = expected
            self.found = found
            self.isFloat = isFloat
        }
    }

    static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    /// A time with milliseconds, as a `Double` of seconds stores it.
    static let date = Date(timeIntervalSince1970: 43_200.123)

    static let equal = [
        Row(nil, .null),
        Row(7, .integer(7)), Row(.number("7.0"), .integer(7)), Row(.number("9223372036854775807"), .integer(.max)),
        Row(.number("0.1"), .double(0.1)), Row(.number("1e2"), .double(100)), Row(3, .double(3)),
        Row(.number("12.2000004"), .double(12.2), isFloat: true),
        Row(.number("12.20"), .decimal(Decimal(string: "12.2") ?? 0)),
        Row(.number("12345678901234567.89"), .decimal(Decimal(string: "12345678901234567.89") ?? 0)),
        Row(true, .boolean(true)), Row(1, .boolean(true)), Row(0, .boolean(false)),
        Row("text", .string("text")), Row("", .string("")), Row("https://example.org", .url("https://example.org")),
        Row("1970-01-01T12:00:00.123Z", .date(date)),
        Row("1970-01-01T12:00:00Z", .date(Date(timeIntervalSince1970: 43_200))),
        Row("01020304-0506-0708-090A-0B0C0D0E0F10", .uuid(uuid)),
        Row("AQI=", .binary(Data([1, 2]))),
        Row(["b": [1, nil], "a": "x"], .json(["a": "x", "b": [.number("1.0"), nil]])),
        Row(nil, .json(nil)),
    ]

    static let unequal = [
        Row(nil, .integer(0)), Row(0, .null), Row("", .null), Row(false, .null),
        Row(8, .integer(7)), Row("7", .integer(7)), Row(true, .integer(1)),
        Row(.number("9007199254740993"), .integer(9_007_199_254_740_992)),
        Row(.number("0.10000001"), .double(0.1)), Row(.number("12.2000004"), .double(12.2)),
        Row(.number("12.20001"), .double(12.2), isFloat: true),
        Row(.number("12.21"), .decimal(Decimal(string: "12.2") ?? 0)), Row("12.2", .decimal(12)),
        Row(.number("12345678901234567.88"), .decimal(Decimal(string: "12345678901234567.89") ?? 0)),
        Row(false, .boolean(true)), Row(2, .boolean(true)), Row("true", .boolean(true)),
        Row("Text", .string("text")), Row("e\u{301}", .string("\u{e9}")), Row(7, .string("7")),
        Row("1970-01-01T12:00:00.124Z", .date(date)), Row("1970-01-01T12:00:00Z", .date(date)),
        Row(43_200, .date(Date(timeIntervalSince1970: 43_200))), Row("yesterday", .date(date)),
        Row("01020304-0506-0708-090a-0b0c0d0e0f10", .uuid(uuid)),
        Row("AQM=", .binary(Data([1, 2]))), Row(["a": 1], .json(["a": 1, "b": 2])), Row([1, 2], .json([2, 1])),
        Row(["a": nil], .json([:])), Row(["e\u{301}": 1], .json(["\u{e9}": 1])),
    ]

    @Test("A stored value matches equal expected values", arguments: equal)
    func equalValues(_ row: Row) {
        #expect(ValueMatcher.matches(row.expected, row.found, isFloat: row.isFloat))
    }

    @Test("A stored value does not match other expected values", arguments: unequal)
    func unequalValues(_ row: Row) {
        #expect(!ValueMatcher.matches(row.expected, row.found, isFloat: row.isFloat))
    }

    @Test("A stored value is reported in the form of scenarios", arguments: equal.filter { !$0.isFloat })
    func reportsAsScenario(_ row: Row) {
        #expect(ValueMatcher.matches(ValueMatcher.json(row.found), row.found))
    }
}
