import Testing

@testable import SyncCore

@Suite("Date patterns")
struct DatePatternTests {
    private func read(_ text: String, _ pattern: DatePattern) -> String? {
        Array(text.utf8).withUnsafeBufferPointer { pattern.milliseconds($0) }.map(DateText.iso)
    }

    @Test(
        "A date pattern reads and writes the same text",
        arguments: [
            ("dd.MM.yyyy", "29.02.2024", "2024-02-29T00:00:00Z"),
            ("yyyy-MM-dd HH:mm:ss", "2024-02-29 18:29:59", "2024-02-29T18:29:59Z"),
            ("yyyyMMdd", "20240229", "2024-02-29T00:00:00Z"),
            ("yyyyMMddHHmmss", "00010101000000", "0001-01-01T00:00:00Z"),
            ("d/M/yyyy", "1/2/2024", "2024-02-01T00:00:00Z"), ("MM/yyyy", "12/2024", "2024-12-01T00:00:00Z"),
            ("yyyy", "1969", "1969-01-01T00:00:00Z"), ("y-MM-dd", "33-01-01", "0033-01-01T00:00:00Z"),
            ("dd.MM.yy", "31.12.68", "2068-12-31T00:00:00Z"), ("dd.MM.yy", "01.01.69", "1969-01-01T00:00:00Z"),
            ("EEEE, d MMMM yyyy", "Thursday, 29 February 2024", "2024-02-29T00:00:00Z"),
            ("EEE MMM dd HH:mm:ss Z yyyy", "Wed Dec 31 23:59:59 +0000 1969", "1969-12-31T23:59:59Z"),
            ("MMM d, yyyy h:mm a", "May 1, 2024 12:00 AM", "2024-05-01T00:00:00Z"),
            ("MMM d, yyyy hh:mm a", "May 1, 2024 12:59 PM", "2024-05-01T12:59:00Z"),
            ("MMM d, yyyy hh:mm a", "May 1, 2024 11:00 PM", "2024-05-01T23:00:00Z"),
            ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2024-02-29T18:29:59.042Z", "2024-02-29T18:29:59.042Z"),
            ("yyyy-MM-dd HH:mm:ss.S", "2024-02-29 18:29:59.5", "2024-02-29T18:29:59.500Z"),
            ("yyyy-MM-dd HH:mm:ss.SSSSSS", "1969-12-31 23:59:59.999000", "1969-12-31T23:59:59.999Z"),
            ("yyyy-MM-dd HH:mm x", "2024-02-29 18:29 +00", "2024-02-29T18:29:00Z"),
            ("yyyy-MM-dd HH:mm xxx", "2024-02-29 18:29 +00:00", "2024-02-29T18:29:00Z"),
            ("dd. MMM yyyy, HH 'Uhr'", "03. Mar 2024, 08 Uhr", "2024-03-03T08:00:00Z"),
            ("dd''MM''yyyy", "03'04'2024", "2024-04-03T00:00:00Z"),
            ("yyyy年MM月dd日", "2024年02月29日", "2024-02-29T00:00:00Z"),
        ])
    func roundTrips(pattern: String, text: String, instant: String) throws {
        let pattern = try DatePattern(pattern)
        #expect(read(text, pattern) == instant)
        let milliseconds = try #require(Array(text.utf8).withUnsafeBufferPointer { pattern.milliseconds($0) })
        #expect(pattern.text(milliseconds) == text)
    }

    @Test(
        "A date pattern reads zones in any form, names in any case, and one or two digits for one letter",
        arguments: [
            ("yyyy-MM-dd HH:mm XXX", "2024-03-01 01:00 +01:30", "2024-02-29T23:30:00Z"),
            ("yyyy-MM-dd HH:mm XXX", "2024-03-01 01:00 -0100", "2024-03-01T02:00:00Z"),
            ("yyyy-MM-dd HH:mm z", "2024-03-01 01:00 UTC", "2024-03-01T01:00:00Z"),
            ("yyyy-MM-dd HH:mm Z", "2024-03-01 01:00 +02", "2024-02-29T23:00:00Z"),
            ("d MMM yyyy", "01 jan 2024", "2024-01-01T00:00:00Z"),
            ("d MMMM yyyy", "1 JUNE 2024", "2024-06-01T00:00:00Z"),
        ])
    func readsVariants(pattern: String, text: String, instant: String) throws {
        #expect(read(text, try DatePattern(pattern)) == instant)
    }

    @Test(
        "A date pattern rejects text of any other form",
        arguments: [
            ("dd.MM.yyyy", "29.2.2024"), ("dd.MM.yyyy", "30.02.2024"), ("dd.MM.yyyy", "29.02.2023"),
            ("dd.MM.yyyy", "29.02.2024 "), ("dd.MM.yyyy", " 29.02.2024"), ("dd.MM.yyyy", "29-02-2024"),
            ("dd.MM.yyyy", ""), ("dd.MM.yyyy", "29.02.24"), ("dd.MM.yyyy", "00.01.2024"), ("dd.MM.yyyy", "01.13.2024"),
            ("dd.MM.yyyy", "01.01.0000"), ("d.M.yyyy", "123.1.2024"), ("yyyy-MM-dd HH:mm", "2024-01-01 24:00"),
            ("yyyy-MM-dd HH:mm", "2024-01-01 23:60"), ("yyyy-MM-dd h:mm a", "2024-01-01 0:00 AM"),
            ("yyyy-MM-dd h:mm a", "2024-01-01 1:00 XM"), ("EEE, dd MMM yyyy", "Fri, 29 Feb 2024"),
            ("dd MMM yyyy", "29 Feber 2024"), ("yyyy-MM-dd X", "2024-01-01 "), ("yyyy-MM-dd X", "2024-01-01 +25"),
            ("yyyy-MM-dd X", "2024-01-01 +01:"), ("yyyyX", "0001+01:00"),
            ("yyyy-MM-dd HH:mm:ss.SSS", "2024-01-01 00:00:00.5"),
        ])
    func rejectsOtherText(pattern: String, text: String) throws {
        #expect(read(text, try DatePattern(pattern)) == nil)
    }

    @Test(
        "Ambiguous, incomplete and unknown date patterns are rejected",
        arguments: [
            ("", "year is missing"), ("HH:mm", "year is missing"), ("MM-dd", "year is missing"),
            ("yyyy-dd", "day requires the month"),
            ("yyyy-MM-dd mm", "minute requires the hour"), ("yyyy-MM-dd HH:ss", "second requires the minute"),
            ("yyyy yyyy", "year occurs twice"), ("yyyy-MM-dd hh:mm", "must be used together"),
            ("yyyy-MM-dd HH:mm a", "must be used together"), ("dMyyyy", "a day of variable length"),
            ("yMMdd", "a year of variable length"),
            ("yyyy-MM-d5", "a day of variable length"), ("yyyy-QQ", "unknown field 'QQ'"),
            ("yyy", "unknown field 'yyy'"),
            ("YYYY-MM-dd", "unknown field 'YYYY'"), ("DD.MM.YYYY", "unknown field 'DD'"), ("yyyy 'x", "unterminated"),
            ("yyyy '", "unterminated"), ("yyyy-MM-dd HH:mm:ss.SSSSSSSSSS", "unknown field 'SSSSSSSSSS'"),
        ])
    func rejectsInvalidPatterns(pattern: String, reason: String) throws {
        let problem = try #require(throws: DatePattern.Problem.self) { try DatePattern(pattern) }
        #expect(problem.message.contains(reason), "\(problem.message)")
    }

    @Test("A two-digit year has no text in another century")
    func shortYearsAreLimited() throws {
        let pattern = try DatePattern("yy")
        #expect(pattern.text(DateText.range.lowerBound) == nil)
        #expect(pattern.text(0) == "70")
    }

    @Test("A complete date pattern reads random dates as written")
    func randomDatesRoundTrip() throws {
        var generator = SystemRandomNumberGenerator()
        let pattern = try DatePattern("EEEE yyyy-MM-dd HH:mm:ss.SSS XXX")
        for _ in 0..<2000 {
            let instant = Int64.random(in: DateText.range, using: &generator)
            let text = try #require(pattern.text(instant))
            #expect(Array(text.utf8).withUnsafeBufferPointer { pattern.milliseconds($0) } == instant, "\(text)")
        }
    }
}

@Suite("Unix time units")
struct UnixTimeTests {
    @Test(
        "Unix time is exact to the millisecond in both directions",
        arguments: [
            (UnixTime.seconds, "1709231399.25", 1_709_231_399_250), (.seconds, "0", 0), (.seconds, "-0.001", -1),
            (.seconds, "-62135596800", -62_135_596_800_000), (.seconds, "1.5", 1500),
            (.seconds, "253402300799.999", 253_402_300_799_999),
            (.milliseconds, "1709231399250", 1_709_231_399_250), (.milliseconds, "5", 5), (.milliseconds, "-1", -1),
            (.microseconds, "5000", 5), (.microseconds, "-1000", -1),
            (.nanoseconds, "1709231399250000000", 1_709_231_399_250),
            (.nanoseconds, "253402300799999000000", 253_402_300_799_999), (.nanoseconds, "0", 0),
        ] as [(UnixTime, String, Int64)])
    func unixTimeRoundTrips(unit: UnixTime, text: String, milliseconds: Int64) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { unit.milliseconds($0) } == milliseconds)
        #expect(unit.text(milliseconds) == text)
    }

    @Test("Unix time is rounded down to the millisecond, and rejected outside of the calendar")
    func unixTimeIsRoundedDown() {
        func read(_ text: String, _ unit: UnixTime) -> Int64? {
            Array(text.utf8).withUnsafeBufferPointer { unit.milliseconds($0) }
        }
        #expect(read("1.9999", .seconds) == 1999)
        #expect(read("-1.9999", .seconds) == -2000)
        #expect(read("1e3", .seconds) == 1_000_000)
        #expect(read("1999", .microseconds) == 1)
        #expect(read("253402300800", .seconds) == nil)
        #expect(read("1709231399250", .seconds) == nil)
        #expect(read("2024-01-01", .seconds) == nil)
    }
}
