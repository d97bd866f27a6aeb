/// Reads instants: ISO 8601 and Unix time, to the millisecond.
package enum DateParser {
    private typealias Text = UnsafeBufferPointer<UInt8>

    /// `2015-06-23T14:40:08.123+02:00` in any of its forms, or digits that are a Unix time. Without a zone the time is
    /// UTC, without a time it is midnight; fractions are cut to milliseconds. Nil for anything else, for days and times
    /// that do not exist (leap seconds too), and for years outside 1 to 9999.
    package static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count >= 10, text[4] == .minus, text[7] == .minus else { return milliseconds(number: text) }
        let century = pair(text, 0)
        let date = CalendarDate(year: century &* 100 &+ pair(text, 2), month: pair(text, 5), day: pair(text, 8))
        guard century < 100, date.isValid else { return nil }
        var milliseconds = Int64(date.daysSince1970) &* 86_400_000
        if text.count > 10 {
            guard let time = time(text) else { return nil }
            milliseconds &+= time
        }
        return DateText.range.contains(milliseconds) ? milliseconds : nil
    }

    /// What is in the place of two digits that are none: too much for any part of a date.
    private static let none = 1_000_000

    /// Two digits; `none` if they are not there.
    @inline(__always)
    private static func pair(_ text: Text, _ start: Int) -> Int {
        guard start &+ 2 <= text.count else { return none }
        let tens = text[start] &- .digit0
        let ones = text[start &+ 1] &- .digit0
        return tens > 9 || ones > 9 ? none : Int(tens) &* 10 &+ Int(ones)
    }

    /// The time of day and its zone, as milliseconds to add to the day.
    @inline(__always)
    private static func time(_ text: Text) -> Int64? {
        guard text.count >= 19, text[10] == UInt8(ascii: "T") || text[10] == .blank, text[13] == .colon,
            text[16] == .colon
        else {
            return nil
        }
        let (hour, minute, second) = (pair(text, 11), pair(text, 14), pair(text, 17))
        guard hour < 24, minute < 60, second < 60 else { return nil }
        var milliseconds = Int64(hour &* 3600 &+ minute &* 60 &+ second) &* 1000
        var index = 19
        if index < text.count, text[index] == .point {
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

    /// `Z`, `+hh:mm`, `+hhmm`, `+hh`, or nothing, as milliseconds east of UTC.
    @inline(__always)
    private static func zone(_ text: Text, _ start: Int) -> Int64? {
        let rest = text.count - start
        if rest == 0 { return 0 }
        if rest == 1 { return text[start] == UInt8(ascii: "Z") ? 0 : nil }
        guard text[start] == .plus || text[start] == .minus else { return nil }
        let hours = pair(text, start + 1)
        let minutes: Int
        switch rest {
        case 3: minutes = 0
        case 5: minutes = pair(text, start + 3)
        case 6: minutes = text[start + 3] == .colon ? pair(text, start + 4) : none
        default: return nil
        }
        guard hours < 24, minutes < 60 else { return nil }
        let east = Int64(hours * 60 + minutes) * 60_000
        return text[start] == .minus ? -east : east
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
        return milliseconds(parts, shift: shift)
    }

    /// A number, its point moved by so many places to the right, cut to a whole one; nil for years outside 1 to 9999.
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
            // Cut to the millisecond before, as a fraction of a positive time is.
            value = parts.digits.count > max(wholeDigits, 0) ? -value - 1 : -value
        }
        return DateText.range.contains(value) ? value : nil
    }
}
