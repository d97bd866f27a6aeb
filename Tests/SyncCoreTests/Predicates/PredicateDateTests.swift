import Foundation
import Testing

@testable import SyncCore

@Suite("Dates and numbers in conditions")
struct PredicateDateTests {
    @Test("Dates from 1583 to 9999 are written and read back")
    func datesRoundTrip() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for year in 1583...9999 {
            for (month, day) in [(1, 1), (2, 28), (3, 1), (12, 31)] where year % 13 == 0 || year % 100 == 0 {
                let parts = DateComponents(year: year, month: month, day: day, hour: 23, minute: 59, second: 58)
                let date = try #require(calendar.date(from: parts))
                let number = { (value: Int, width: Int) in
                    String(repeating: "0", count: width - String(value).count) + String(value)
                }
                let text = "\(number(year, 4))-\(number(month, 2))-\(number(day, 2))T23:59:58.000Z"
                #expect(date.milliseconds.map(DateText.iso) == text.replacing(".000Z", with: "Z"))
                #expect(milliseconds(text) == Int64(date.timeIntervalSince1970 * 1000))
            }
        }
    }

    private func milliseconds(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
    }

    static let dates: [(String, Int64?)] = [
        ("1970-01-01", 0), ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01 00:00:00.1", 100),
        ("1970-01-01T00:00:00.1239999Z", 123), ("1970-01-01T01:00:00+01", 0), ("1970-01-01T01:30:00+0130", 0),
        ("1969-12-31T23:00:00-01:00", 0), ("2024-02-29", 1_709_164_800_000), ("2023-02-29", nil),
        ("2024-13-01", nil),
        ("2024-00-01", nil), ("2024-01-00", nil), ("2024-01-01T24:00", nil), ("2024-01-01T00:60", nil),
        ("2024-01-01T00:00:00.", nil), ("2024-01-01T00:00:00X", nil), ("2024-01-01T00:00:00Z ", nil),
        ("", nil),
        ("100e-00001", nil), ("1709231399e0", nil), ("17E8", nil), ("1709231399", 1_709_231_399_000),
        ("0000-01-01", nil), ("0001-01-01", -62_135_596_800_000), ("9999-12-31T23:59:59.999-01:00", nil),
        ("x", nil),
    ]

    @Test("ISO 8601 dates are read", arguments: dates)
    func readsISODates(text: String, expected: Int64?) {
        #expect(milliseconds(text) == expected)
    }

    @Test("The size of a Unix time decides its unit")
    func sizeDecidesUnixUnit() {
        let cases: [(String, Int64?)] = [
            ("0", 0), ("1.5", 1500), ("99999999999", 99_999_999_999_000), ("100000000000", 100_000_000_000),
            ("100000000000000", 100_000_000_000), ("100000000000000000", 100_000_000_000), ("-1", -1000),
            ("1e3", 1_000_000),
            ("1e40", nil),
        ]
        for (text, milliseconds) in cases {
            let found = Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds(number: $0) }
            #expect(found == milliseconds, "\(text)")
        }
    }

    static let numbers: [(String, text: String?, integer: Int64?, floor: Int64?)] = [
        ("0", "0", 0, 0), ("-0", "0", 0, 0), ("-0.0e5", "0", 0, 0), ("007.50", "7.5", nil, 7),
        ("1e2", "100", 100, 100),
        ("12e-1", "1.2", nil, 1), ("-0.5", "-0.5", nil, -1), ("-1.5", "-1.5", nil, -2),
        ("0.05", "0.05", nil, 0),
        ("+3", "3", 3, 3), ("9223372036854775807", "9223372036854775807", .max, .max),
        ("-9223372036854775808", "-9223372036854775808", .min, .min),
        ("9223372036854775808", "9223372036854775808", nil, nil), ("1e5000", nil, nil, nil),
        ("1e-5000", nil, nil, 0),
    ]

    @Test("Numbers keep every digit", arguments: numbers)
    func numbersKeepEveryDigit(_ written: String, text: String?, integer: Int64?, floor: Int64?) throws {
        let number = try #require(ExactNumber(written))
        #expect(number.text == text)
        #expect(number.integer == integer)
        #expect(number.floor == floor)
    }

    @Test(
        "Text that is not a number is rejected",
        arguments: ["", "-", "x", "1.", ".5", "1e", "1e+", "1x", " 1", "1e99999999999999999999"])
    func rejectsOtherText(text: String) { #expect(ExactNumber(text) == nil) }

    @Test("Numbers are ordered by value")
    func ordersByValue() throws {
        let ascending = [
            "-1e9", "-10", "-9.5", "-0.01", "0", "1e-5000", "0.001", "0.01", "0.1", "1", "1.01", "9", "10", "1e9",
        ]
        let numbers = try ascending.map { try #require(ExactNumber($0)) }
        for (i, left) in numbers.enumerated() {
            for (j, right) in numbers.enumerated() { #expect((left < right) == (i < j)) }
        }
        #expect(ExactNumber("1.0") == ExactNumber("10e-1"))
    }
}
