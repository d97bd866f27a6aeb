/// Instants as text: UTC, proleptic Gregorian, milliseconds since 1970.
package enum DateText {
    /// The first instant of year 1 and the last of year 9999.
    package static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Writes the 23 bytes `YYYY-MM-DD HH:MM:SS.SSS`, the form stores keep. Outside the years 1 to 9999 the nearest
    /// instant inside is written.
    @inline(__always)
    package static func write(_ milliseconds: Int64, to out: UnsafeMutablePointer<UInt8>) {
        let clamped = min(max(milliseconds, range.lowerBound), range.upperBound)
        // Since year 1, so that nothing is negative.
        let sinceStart = UInt64(bitPattern: clamped &- range.lowerBound)
        let day = UInt32(truncatingIfNeeded: sinceStart / 86_400_000)
        let rest = UInt32(truncatingIfNeeded: sinceStart &- UInt64(day) &* 86_400_000)
        let date = CalendarDate(daysSinceYear1: day)
        let year = UInt32(truncatingIfNeeded: date.year)
        let century = year / 100
        write(century, to: out)
        write(year &- century &* 100, to: out + 2)
        out[4] = .minus
        write(UInt32(truncatingIfNeeded: date.month), to: out + 5)
        out[7] = .minus
        write(UInt32(truncatingIfNeeded: date.day), to: out + 8)
        out[10] = .blank
        let seconds = rest / 1000
        let minutes = seconds / 60
        let hours = minutes / 60
        write(hours, to: out + 11)
        out[13] = .colon
        write(minutes &- hours &* 60, to: out + 14)
        out[16] = .colon
        write(seconds &- minutes &* 60, to: out + 17)
        out[19] = .point
        let fraction = rest &- seconds &* 1000
        let tenths = fraction / 100
        out[20] = .digit0 &+ UInt8(truncatingIfNeeded: tenths)
        write(fraction &- tenths &* 100, to: out + 21)
    }

    /// Writes two digits.
    @inline(__always)
    private static func write(_ value: UInt32, to out: UnsafeMutablePointer<UInt8>) {
        let tens = (value &* 103) >> 10
        // The byte of the digit 0, twice.
        let digits = 0x3030 &+ (tens | (value &- tens &* 10) << 8)
        UnsafeMutableRawPointer(out).storeBytes(
            of: UInt16(truncatingIfNeeded: digits).littleEndian, as: UInt16.self)
    }

    /// `2024-02-29 18:29:59.999`
    package static func string(_ milliseconds: Int64) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 23) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            buffer.initialize(repeating: 0)
            write(milliseconds, to: base)
            return String(decoding: buffer, as: UTF8.self)
        }
    }

    /// `2024-02-29T18:29:59.999Z`, the milliseconds only if they are not zero.
    package static func iso(_ milliseconds: Int64) -> String {
        var text = string(milliseconds).replacing(" ", with: "T")
        if text.hasSuffix(".000") { text.removeLast(4) }
        return text + "Z"
    }
}

/// A day of the proleptic Gregorian calendar.
struct CalendarDate {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Counts in eras of 400 years that begin on 1 March, so that leap days come last.
    @inline(__always)
    init(daysSinceYear1 days: UInt32) {
        let shifted = days &+ 306
        let era = shifted / 146_097
        let dayOfEra = shifted &- era &* 146_097
        let yearOfEra = (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
        let monthFromMarch = (5 &* dayOfYear &+ 2) / 153
        day = Int(dayOfYear &- (153 &* monthFromMarch &+ 2) / 5 &+ 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch &+ 3 : monthFromMarch &- 9)
        year = Int(yearOfEra &+ era &* 400) &+ (month <= 2 ? 1 : 0)
    }

    /// Of a day that is valid.
    @inline(__always)
    var daysSince1970: Int {
        let fromMarch = UInt32(truncatingIfNeeded: month <= 2 ? year &- 1 : year)
        let monthFromMarch = UInt32(truncatingIfNeeded: month > 2 ? month &- 3 : month &+ 9)
        let century = fromMarch / 100
        let dayOfYear = (153 &* monthFromMarch &+ 2) / 5 &+ UInt32(truncatingIfNeeded: day)
        let days = fromMarch &* 365 &+ fromMarch / 4 &- century &+ century / 4 &+ dayOfYear
        return Int(days) &- 719_469
    }

    var isValid: Bool { 1...9999 ~= year && 1...12 ~= month && day >= 1 && day <= daysInMonth }

    private var daysInMonth: Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
