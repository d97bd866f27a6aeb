package import Foundation

/// The text of instants, in UTC and the proleptic Gregorian calendar. An instant is a number of milliseconds since
/// 1970.
package enum DateText {
    /// From the first instant of year 1 to the last instant of year 9999.
    package static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Writes an instant as stores have it: the 23 bytes `YYYY-MM-DD HH:MM:SS.SSS`. An instant outside the years 1 to
    /// 9999 is clamped.
    @inline(__always)
    package static func write(_ milliseconds: Int64, to out: UnsafeMutablePointer<UInt8>) {
        let clamped = min(max(milliseconds, range.lowerBound), range.upperBound)
        // Counting from year 1 avoids negative numbers.
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

    /// Writes a number below 100 as two digits.
    @inline(__always)
    private static func write(_ value: UInt32, to out: UnsafeMutablePointer<UInt8>) {
        let tens = (value &* 103) >> 10
        // The byte of the digit 0, twice.
        let digits = 0x3030 &+ (tens | (value &- tens &* 10) << 8)
        UnsafeMutableRawPointer(out).storeBytes(
            of: UInt16(truncatingIfNeeded: digits).littleEndian, as: UInt16.self)
    }

    /// Returns an instant as stores have it: `2024-02-29 18:29:59.999`.
    package static func string(_ milliseconds: Int64) -> String {
        String(unsafeUninitializedCapacity: 23) { text in
            guard let start = text.baseAddress else { return 0 }
            write(milliseconds, to: start)
            return 23
        }
    }

    /// Returns an instant in ISO 8601: `2024-02-29T18:29:59.999Z`. Milliseconds are omitted if they are zero.
    package static func iso(_ milliseconds: Int64) -> String {
        String(unsafeUninitializedCapacity: isoCapacity) { writeISO(milliseconds, to: $0) }
    }

    /// Appends an instant in ISO 8601.
    static func append(iso milliseconds: Int64, to out: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: isoCapacity) { text in
            let count = writeISO(milliseconds, to: text)
            out.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<count]))
        }
    }

    /// The number of bytes of an instant in ISO 8601 with milliseconds.
    private static let isoCapacity = 24

    /// Writes an instant in ISO 8601, and returns the number of bytes.
    @inline(__always)
    private static func writeISO(_ milliseconds: Int64, to text: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let start = text.baseAddress, text.count >= isoCapacity else { return 0 }
        write(milliseconds, to: start)
        start[10] = UInt8(ascii: "T")
        let isWhole = start[20] == .digit0 && start[21] == .digit0 && start[22] == .digit0
        let count = isWhole ? 19 : 23
        start[count] = UInt8(ascii: "Z")
        return count + 1
    }
}

/// A day of the proleptic Gregorian calendar.
struct CalendarDate {
    var year: Int
    var month: Int
    var day: Int
}

extension CalendarDate {
    /// Creates a day from the number of days since 1 January of year 1. The algorithm counts in eras of 400 years that
    /// begin on 1 March, so that a leap day is the last day of its year.
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

    /// The number of days since 1 January 1970. The date must be valid.
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

/// A parser of instants in ISO 8601 or as Unix time. The result has millisecond precision.
package enum DateParser {
    private typealias Text = UnsafeBufferPointer<UInt8>

    /// Parses a date in ISO 8601, such as `2015-06-23T14:40:08.123+02:00`, or a Unix time. Returns milliseconds since
    /// 1970.
    ///
    /// A date without a zone is in UTC, and a date without a time is at midnight. A time may omit its seconds.
    /// Fractions are truncated to milliseconds. Returns nil for any other text, and for a year outside 1 to 9999. Also
    /// returns nil for a date or time that does not exist, including leap seconds.
    package static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count >= 10, text[4] == .minus, text[7] == .minus else { return unixTime(text) }
        let century = twoDigits(text, 0)
        let date = CalendarDate(
            year: century &* 100 &+ twoDigits(text, 2), month: twoDigits(text, 5), day: twoDigits(text, 8))
        guard century < 100, date.isValid else { return nil }
        var milliseconds = Int64(date.daysSince1970) &* 86_400_000
        if text.count > 10 {
            guard let time = time(text) else { return nil }
            milliseconds &+= time
        }
        return DateText.range.contains(milliseconds) ? milliseconds : nil
    }

    /// The result of ``twoDigits(_:_:)`` for other bytes. It is too large for any part of a date.
    private static let none = 1_000_000

    /// Returns the number of two digits; ``none`` if there are not two digits at this offset.
    @inline(__always)
    private static func twoDigits(_ text: Text, _ start: Int) -> Int {
        guard start &+ 2 <= text.count else { return none }
        let tens = text[start] &- .digit0
        let ones = text[start &+ 1] &- .digit0
        return tens > 9 || ones > 9 ? none : Int(tens) &* 10 &+ Int(ones)
    }

    /// Parses the time and zone after a date. Returns the milliseconds to add to the start of the day; nil if the text
    /// is invalid.
    @inline(__always)
    private static func time(_ text: Text) -> Int64? {
        guard text.count >= 16, text[10] == UInt8(ascii: "T") || text[10] == .blank, text[13] == .colon else {
            return nil
        }
        let (hour, minute) = (twoDigits(text, 11), twoDigits(text, 14))
        guard hour < 24, minute < 60 else { return nil }
        var milliseconds = Int64(hour &* 3600 &+ minute &* 60) &* 1000
        var index = 16
        if index < text.count, text[index] == .colon {
            let second = twoDigits(text, 17)
            guard second < 60 else { return nil }
            milliseconds &+= Int64(second) &* 1000
            index = 19
            if index < text.count, text[index] == .point {
                guard let fraction = fraction(text, &index) else { return nil }
                milliseconds += fraction
            }
        }
        guard let zone = zone(text, index) else { return nil }
        return milliseconds - zone
    }

    @inline(__always)
    private static func fraction(_ text: Text, _ index: inout Int) -> Int64? {
        index += 1
        var value: Int64 = 0
        var digits = 0
        while index < text.count, text[index].isDigit {
            if digits < 3 { value = value * 10 + Int64(text[index] &- .digit0) }
            digits += 1
            index += 1
        }
        guard digits > 0 else { return nil }
        while digits < 3 {
            value *= 10
            digits += 1
        }
        return value
    }

    /// Parses `Z`, `±hh:mm`, `±hhmm`, `±hh`, or an empty text. Returns the offset from UTC in milliseconds, positive to
    /// the east; nil for any other text.
    @inline(__always)
    private static func zone(_ text: Text, _ start: Int) -> Int64? {
        let rest = text.count - start
        if rest == 0 { return 0 }
        if rest == 1 { return text[start] == UInt8(ascii: "Z") ? 0 : nil }
        guard text[start] == .plus || text[start] == .minus else { return nil }
        let hours = twoDigits(text, start + 1)
        let minutes: Int
        switch rest {
        case 3: minutes = 0
        case 5: minutes = twoDigits(text, start + 3)
        case 6: minutes = text[start + 3] == .colon ? twoDigits(text, start + 4) : none
        default: return nil
        }
        guard hours < 24, minutes < 60 else { return nil }
        let east = Int64(hours * 60 + minutes) * 60_000
        return text[start] == .minus ? -east : east
    }

    // MARK: Unix time

    /// Parses a text as a Unix time. A text with an exponent is probably a code, such as `100e-00001`, and no time.
    private static func unixTime(_ text: Text) -> Int64? {
        text.contains { $0 | .caseBit == UInt8(ascii: "e") } ? nil : milliseconds(number: text)
    }

    /// Parses a Unix time: seconds below 10¹¹, milliseconds below 10¹⁴, microseconds below 10¹⁷, nanoseconds above.
    /// Returns milliseconds since 1970; nil if the text is not a number, or for a year outside 1 to 9999.
    package static func milliseconds(number text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let parts = NumberText.parts(text) else { return nil }
        if parts.digits.isEmpty { return 0 }
        let magnitude = parts.digits.count + parts.exponent
        let shift: Int
        switch magnitude {
        case ...11: shift = 3
        case ...14: shift = 0
        case ...17: shift = -3
        default: shift = -6
        }
        return milliseconds(parts, shift: shift)
    }

    /// Returns a number times 10 to the power of `shift`, rounded down. Returns nil if the result is, in milliseconds
    /// since 1970, in a year outside 1 to 9999.
    @inline(__always)
    static func milliseconds(_ parts: NumberText.Parts, shift: Int) -> Int64? {
        if parts.digits.isEmpty { return 0 }
        let wholeDigits = parts.digits.count + parts.exponent + shift
        guard wholeDigits <= 18 else { return nil }
        var value: Int64 = 0
        for index in 0..<max(wholeDigits, 0) {
            value = value * 10 + (index < parts.digits.count ? Int64(parts.digits[index] - .digit0) : 0)
        }
        if parts.isNegative {
            // Round down, as for positive times.
            value = parts.digits.count > max(wholeDigits, 0) ? -value - 1 : -value
        }
        return DateText.range.contains(value) ? value : nil
    }
}

/// The unit of a Unix time.
package enum UnixTime: String, Sendable, Hashable, CaseIterable {
    case seconds, milliseconds, microseconds, nanoseconds

    /// The power of ten by which a number of this unit is multiplied to give milliseconds.
    private var shift: Int {
        switch self {
        case .seconds: 3
        case .milliseconds: 0
        case .microseconds: -3
        case .nanoseconds: -6
        }
    }

    /// Parses a number of this unit. Returns milliseconds since 1970, rounded down; nil if the text is not a number, or
    /// for a year outside 1 to 9999.
    package func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        NumberText.parts(text).flatMap { DateParser.milliseconds($0, shift: shift) }
    }

    /// Returns the exact number of this unit for milliseconds since 1970.
    package func text(_ milliseconds: Int64) -> String {
        guard self == .seconds else {
            return milliseconds == 0 ? "0" : "\(milliseconds)" + String(repeating: "0", count: -shift)
        }
        let (whole, part) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        var text = (milliseconds < 0 ? "-" : "") + "\(whole)"
        guard part > 0 else { return text }
        var fraction = "\(part + 1000)".dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        text += "." + fraction
        return text
    }
}

// MARK: - Date+Milliseconds

extension Date {
    /// The milliseconds since 1970, rounded to an integer; nil outside the years 1 to 9999.
    package var milliseconds: Int64? {
        let value = (timeIntervalSince1970 * 1000).rounded()
        guard value >= Double(DateText.range.lowerBound), value <= Double(DateText.range.upperBound) else { return nil }
        return Int64(value)
    }

    /// The milliseconds since 1970, rounded to an integer and limited to the years 1 to 9999, because a service may send
    /// any number.
    package var clampedMilliseconds: Int64 { Self.clamped((timeIntervalSince1970 * 1000).rounded()) }

    /// The ``clampedMilliseconds`` of a date that a service reported; nil if the date is infinite or not a number.
    package var reportedMilliseconds: Int64? { timeIntervalSince1970.isFinite ? clampedMilliseconds : nil }

    /// Limits milliseconds since 1970 to the years 1 to 9999.
    package static func clamped(_ milliseconds: Double) -> Int64 {
        Int64(min(max(milliseconds, Double(DateText.range.lowerBound)), Double(DateText.range.upperBound)))
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
