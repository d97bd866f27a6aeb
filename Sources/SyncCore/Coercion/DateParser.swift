/// Reads instants: ISO 8601 and Unix time, to the millisecond.
package enum DateParser {
    private typealias Text = UnsafeBufferPointer<UInt8>

    /// `2015-06-23T14:40:08.123+02:00` in any of its forms, or digits that are a Unix time. Without a zone the time is
    /// UTC, without a time it is midnight; fractions are cut to milliseconds. Nil for anything else, for days and times
    /// that do not exist (leap seconds too), and for years outside 1 to 9999.
    package static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count >= 10, text[4] == 0x2D, text[7] == 0x2D else { return milliseconds(number: text) }
        guard let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2) else {
            return nil
        }
        let date = CalendarDate(year: year, month: month, day: day)
        guard date.isValid else { return nil }
        var milliseconds = Int64(date.daysSince1970) * 86_400_000
        if text.count > 10 {
            guard let time = time(text) else { return nil }
            milliseconds += time
        }
        return DateText.range.contains(milliseconds) ? milliseconds : nil
    }

    @inline(__always)
    private static func number(_ text: Text, _ start: Int, _ count: Int) -> Int? {
        guard start + count <= text.count else { return nil }
        var value = 0
        for index in start..<start + count {
            let digit = text[index] &- 0x30
            if digit > 9 { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    /// The time of day and its zone, as milliseconds to add to the day.
    @inline(__always)
    private static func time(_ text: Text) -> Int64? {
        guard text.count >= 19, text[10] == 0x54 || text[10] == 0x20, text[13] == 0x3A, text[16] == 0x3A,
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2),
            hour < 24, minute < 60, second < 60
        else { return nil }
        var milliseconds = Int64(hour * 3600 + minute * 60 + second) * 1000
        var index = 19
        if index < text.count, text[index] == 0x2E {
            guard let fraction = fraction(text, &index) else { return nil }
            milliseconds += fraction
        }
        guard let zone = zone(text, index) else { return nil }
        return milliseconds - zone
    }

    @inline(__always)
    private static func fraction(_ text: Text, _ index: inout Int) -> Int64? {
        index += 1
        var value: Int64 = 0
        var digits = 0
        while index < text.count, text[index] &- 0x30 <= 9 {
            if digits < 3 { value = value * 10 + Int64(text[index] &- 0x30) }
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

    /// `Z`, `+hh:mm`, `+hhmm`, `+hh`, or nothing, as milliseconds east of UTC.
    @inline(__always)
    private static func zone(_ text: Text, _ start: Int) -> Int64? {
        let rest = text.count - start
        if rest == 0 { return 0 }
        if rest == 1 { return text[start] == 0x5A ? 0 : nil }
        guard text[start] == 0x2B || text[start] == 0x2D, let hours = number(text, start + 1, 2), hours < 24 else {
            return nil
        }
        var minutes = 0
        switch rest {
        case 3: break
        case 5:
            guard let value = number(text, start + 3, 2) else { return nil }
            minutes = value
        case 6:
            guard text[start + 3] == 0x3A, let value = number(text, start + 4, 2) else { return nil }
            minutes = value
        default: return nil
        }
        guard minutes < 60 else { return nil }
        let east = Int64(hours * 60 + minutes) * 60_000
        return text[start] == 0x2D ? -east : east
    }

    // MARK: Unix time

    /// Seconds below 10¹¹, milliseconds below 10¹⁴, microseconds below 10¹⁷, else nanoseconds.
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
        let wholeDigits = magnitude + shift
        guard wholeDigits <= 18 else { return nil }
        var value: Int64 = 0
        for index in 0..<max(wholeDigits, 0) {
            value = value * 10 + (index < parts.digits.count ? Int64(parts.digits[index] - 0x30) : 0)
        }
        if parts.isNegative {
            // Cut to the millisecond before, as a fraction of a positive time is.
            value = parts.digits.count > max(wholeDigits, 0) ? -value - 1 : -value
        }
        return DateText.range.contains(value) ? value : nil
    }
}
