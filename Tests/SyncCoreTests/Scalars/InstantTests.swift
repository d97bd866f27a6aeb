import Foundation
import SyncCore
import Testing

@Suite("Dates as text and Unix time")
struct InstantTests {
    private func parse(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
    }

    private func parse(number text: String) -> Int64? {
        Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds(number: $0) }
    }

    /// Texts and their date in UTC. Nil for texts that are not dates.
    static let texts: [(String, String?)] = [
        // Zones
        ("2015-06-23T14:40:08.123+02:00", "2015-06-23T12:40:08.123Z"),
        ("2014-01-01T12:40:08+00:00", "2014-01-01T12:40:08Z"),
        ("2015-09-10T12:40:08.123+0000", "2015-09-10T12:40:08.123Z"),
        ("2015-06-23T19:04:19.911Z", "2015-06-23T19:04:19.911Z"),
        ("2016-01-09T12:40:08", "2016-01-09T12:40:08Z"), ("2014-01-01T00:00:00-05:30", "2014-01-01T05:30:00Z"),
        ("2015-09-10T12:40:08.123-0500", "2015-09-10T17:40:08.123Z"),
        ("2015-06-23 14:40:08.1+02", "2015-06-23T12:40:08.100Z"),
        ("2024-02-29T23:30:00-01", "2024-03-01T00:30:00Z"), ("2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00Z"),
        ("2023-12-31T23:59:59-23:59", "2024-01-01T23:58:59Z"), ("2015-06-23T14:40:08-00:00", "2015-06-23T14:40:08Z"),
        ("2015-06-23T14:40:08+05:45", "2015-06-23T08:55:08Z"),
        // Days
        ("2014-01-02", "2014-01-02T00:00:00Z"), ("2000-02-29", "2000-02-29T00:00:00Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("2023-02-29", nil), ("1900-02-29", nil), ("2100-02-29", nil), ("2023-04-31", nil), ("2023-02-30", nil),
        ("2023-01-32", nil),
        ("2023-00-10", nil), ("2023-13-10", nil), ("2023-01-00", nil), ("2014-13-01T00:00:00Z", nil), ("2023-1-1", nil),
        ("2023/01/01", nil), ("20230101T000000Z", nil), ("01-01-2023", nil), ("2023-01", nil), ("2023-W01-1", nil),
        ("2023-001", nil),
        // Fractions are cut to milliseconds
        ("2017-12-22T18:10:14.07Z", "2017-12-22T18:10:14.070Z"),
        ("2017-12-22T18:10:14.070", "2017-12-22T18:10:14.070Z"),
        ("2014-01-02T00:00:00.007450+00:00", "2014-01-02T00:00:00.007Z"),
        ("2015-06-23T14:40:08.1239Z", "2015-06-23T14:40:08.123Z"),
        ("2015-06-23T14:40:08.999999999999999999999Z", "2015-06-23T14:40:08.999Z"),
        ("2015-06-23T14:40:08.0009Z", "2015-06-23T14:40:08Z"),
        ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
        ("2023-01-01T10:00:00.", nil), ("2023-01-01T10:00:00.Z", nil), ("2023-01-01T10:00:00.5.5Z", nil),
        // Years
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"), ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("1582-10-10", "1582-10-10T00:00:00Z"), ("1883-11-18T12:03:58Z", "1883-11-18T12:03:58Z"),
        ("0000-01-01", nil), ("0000-12-31T23:00:00-02:00", nil), ("10000-01-01", nil), ("-2023-01-01", nil),
        ("+2023-01-01", nil),
        ("0001-01-01T00:00:00+00:01", nil), ("9999-12-31T23:59:59-00:01", nil), ("10000-01-01T00:00:00Z", nil),
        // Times
        ("2023-01-01T24:00:00Z", nil), ("2023-01-01T23:60:00Z", nil), ("2016-12-31T23:59:60Z", nil),
        ("2023-01-01T-1:00:00Z", nil),
        ("2023-01-01T", nil), ("2023-01-01T10", nil), ("2023-01-01T1:00:00Z", nil), ("2023-01-01T10:0:00Z", nil),
        ("2024-02-29T18:29Z", "2024-02-29T18:29:00Z"), ("2024-02-29 18:29", "2024-02-29T18:29:00Z"),
        ("2024-02-29T18:29+01:00", "2024-02-29T17:29:00Z"), ("2024-02-29T18:29-0130", "2024-02-29T19:59:00Z"),
        ("2023-01-01T10:60Z", nil), ("2023-01-01T10:0", nil), ("2023-01-01T10:00.5Z", nil),
        ("2023-01-01T10:00:", nil), ("2023-01-01T10:00:Z", nil), ("2023-01-01T1000Z", nil),
        ("2023-01-01T10:00:0Z", nil), ("2023-01-01T10:00:00ZZ", nil), ("2023-01-01T10:00:00 Z", nil),
        ("2023-01-01T10:00:00+1", nil),
        ("2023-01-01T10:00:00+100", nil), ("2023-01-01T10:00:00+24:00", nil), ("2023-01-01T10:00:00+10:60", nil),
        ("2023-01-01T10:00:00+10-00", nil), ("2023-01-01T10:00:00+10:000", nil), ("2023-01-01T10:00:00+", nil),
        ("2023-01-01T10:00:00CET", nil), ("2023-01-01Z", nil), ("2023-01-01 ", nil), (" 2023-01-01", nil),
        ("2023-01-01_10:00:00", nil), ("2023-01-01T10:00:00Z\n", nil), ("2023-01-01T10:00:00\u{0}", nil),
        ("2014-01-02T00:monsterofthelakeI'mhere00:00.007450+00:00", nil), ("٢٠٢٣-01-01", nil),
        // Unix time as text
        ("1441888808", "2015-09-10T12:40:08Z"), ("1441888808123", "2015-09-10T12:40:08.123Z"),
        ("1441888808.25", "2015-09-10T12:40:08.250Z"), ("-1.5", "1969-12-31T23:59:58.500Z"),
        ("0", "1970-01-01T00:00:00Z"),
        ("2014", "1970-01-01T00:33:34Z"), ("", nil), ("-", nil), ("tomorrow", nil), ("12:00:00", nil), ("1.2.3", nil),
        ("0x10", nil),
        (" 1441888808", nil), ("NaN", nil),
    ]

    @Test("ISO 8601 and Unix time are read, and other text is rejected", arguments: texts)
    func readsTexts(_ text: String, _ expected: String?) {
        #expect(parse(text).map(DateText.iso) == expected)
    }

    static let numbers: [(String, Int64?)] = [
        ("0", 0), ("-0", 0), ("-0.0e9", 0), ("86400", 86_400_000), ("1441888808", 1_441_888_808_000),
        // Seconds below 10¹¹, milliseconds below 10¹⁴, microseconds below 10¹⁷, else nanoseconds
        ("99999999999", 99_999_999_999_000), ("100000000000", 100_000_000_000), ("99999999999999", 99_999_999_999_999),
        ("100000000000000", 100_000_000_000), ("99999999999999999", 99_999_999_999_999),
        ("100000000000000000", 100_000_000_000), ("1441888808123", 1_441_888_808_123),
        ("1441888808123456", 1_441_888_808_123),
        ("1441888808123456789", 1_441_888_808_123), ("253402300799999999999", 253_402_300_799_999),
        // Fractions are kept to the millisecond
        ("1441888808.1239", 1_441_888_808_123), ("99999999999.9999", 99_999_999_999_999),
        ("1441888808123.9", 1_441_888_808_123),
        ("0.0019", 1), ("0.0001", 0), ("1e-30", 0), ("9007199254740993", 9_007_199_254_740), ("0.001", 1),
        ("1.441888808e9", 1_441_888_808_000), ("1441888808.000", 1_441_888_808_000),
        ("14418888080e-1", 1_441_888_808_000),
        // Before 1970, rounded down to the millisecond like ISO texts
        ("-86400", -86_400_000), ("-1.5", -1500), ("-0.001", -1), ("-0.0015", -2), ("-0.0000001", -1),
        ("-8640000000000", -8_640_000_000_000), ("-62135596800", -62_135_596_800_000),
        // Outside the years 1 to 9999
        ("-62135596801", nil), ("-62135596800.001", nil), ("253402300800000000000", nil), ("1e30", nil),
        ("1e1000000000000000000000", nil), ("-1e25", nil), ("x", nil), ("", nil),
    ]

    @Test("The size of a Unix time decides its unit", arguments: numbers)
    func readsNumbers(_ text: String, _ expected: Int64?) {
        #expect(parse(number: text) == expected)
    }

    @Test("20,000 written dates are read back unchanged")
    func roundTrips() {
        var state: UInt64 = 20_260_101
        let span = UInt64(DateText.range.upperBound - DateText.range.lowerBound) + 1
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let milliseconds = DateText.range.lowerBound + Int64((state ^ state >> 29) % span)
            #expect(parse(DateText.string(milliseconds)) == milliseconds)
            #expect(parse(DateText.iso(milliseconds)) == milliseconds)
            #expect(Date(milliseconds: milliseconds).milliseconds == milliseconds)
        }
        for milliseconds in [
            DateText.range.lowerBound, DateText.range.upperBound, 0, -1, 1, 999, -999, 86_399_999, 86_400_000,
        ] {
            #expect(parse(DateText.string(milliseconds)) == milliseconds)
            #expect(parse(DateText.iso(milliseconds)) == milliseconds)
        }
    }

    @Test("Days have the same dates as in Foundation's calendar")
    func agreesWithFoundation() {
        // This calendar is proleptic Gregorian. Foundation's is Julian before October 1582.
        for day in stride(from: Int64(-141_427), through: 2_932_896, by: 97) {
            let expected = Date(timeIntervalSince1970: Double(day) * 86_400).formatted(.iso8601)
            #expect(DateText.iso(day * 86_400_000) == expected)
        }
    }

    @Test("The stored text has 23 bytes and is clamped to the years 1 to 9999")
    func writesStoredText() {
        for (milliseconds, expected) in [
            (0, "1970-01-01 00:00:00.000"), (1_709_231_399_999, "2024-02-29 18:29:59.999"),
            (-1, "1969-12-31 23:59:59.999"),
            (-62_135_596_800_000, "0001-01-01 00:00:00.000"), (.min, "0001-01-01 00:00:00.000"),
            (.max, "9999-12-31 23:59:59.999"),
        ] as [(Int64, String)] {
            #expect(DateText.string(milliseconds) == expected)
            #expect(DateText.string(milliseconds).utf8.count == 23)
        }
    }

    @Test("Stored texts sort in the order of their dates")
    func storedTextsSortByDate() {
        let instants: [Int64] = [
            -62_135_596_800_000, -1, 0, 1, 999, 1000, 86_400_000, 1_709_231_399_999, 253_402_300_799_999,
        ]
        let texts = instants.map(DateText.string)
        #expect(texts.sorted() == texts)
    }

    @Test("Dates outside of the years 1 to 9999 have no milliseconds")
    func rejectsFarDates() {
        for seconds in [1e13, -1e13, Double.nan, .infinity, -.infinity, 253_402_300_800, -62_135_596_800.001] {
            #expect(Date(timeIntervalSince1970: seconds).milliseconds == nil, "\(seconds)")
        }
        #expect(Date(timeIntervalSince1970: 0.0004).milliseconds == 0)
        #expect(Date(timeIntervalSince1970: 0.0006).milliseconds == 1)
    }
}
