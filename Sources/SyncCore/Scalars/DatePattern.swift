import Foundation

/// A date pattern of Unicode Technical Standard 35, with the letters that can be parsed without ambiguity.
///
/// The supported fields are:
///
/// - Years: `yyyy`, `y`, `yy`. Months: `M`, `MM`, `MMM`, `MMMM`. Days: `d`, `dd`. Weekdays: `E` to `EEE`, `EEEE`.
/// - Hours: `H`, `HH`, or `h`, `hh` with `a`. Minutes: `m`, `mm`. Seconds: `s`, `ss`. Fractions of a second: `S` to
///   `SSSSSSSSS`.
/// - Zones: `X`, `XX`, `XXX`, `x`, `xx`, `xxx`, `Z` to `ZZZ`, `ZZZZZ`, `z`.
///
/// Text in apostrophes is literal, and so is any character that is not a letter from A to Z. Names of months and
/// weekdays are English.
package struct DatePattern: Sendable, Hashable {
    enum Field: Sendable, Hashable {
        case year(digits: Int)
        case month(digits: Int)
        case monthName(isShort: Bool)
        case day(digits: Int)
        case weekday(isShort: Bool)
        case hour(digits: Int)
        /// An hour from 1 to 12. ``dayPeriod`` tells whether it is in the morning or afternoon.
        case halfDayHour(digits: Int)
        case dayPeriod
        case minute(digits: Int)
        case second(digits: Int)
        case fraction(digits: Int)
        case zone(Zone)
        case literal([UInt8])

        /// The kind of a field. Except for literals, a pattern has at most one field of each kind.
        enum Kind: Hashable { case year, month, day, weekday, hour, dayPeriod, minute, second, fraction, zone, literal }
    }

    /// The form in which a zone is written. A parsed text may have any of the forms.
    enum Zone: Sendable, Hashable {
        /// `Z`.
        case letter
        /// `GMT`.
        case name
        /// `+00`, `+0000`, `+00:00`.
        case hours, digits, colon
    }

    /// The reason why a pattern is invalid.
    package struct Problem: LocalizedError {
        package let message: String
        package var errorDescription: String? { message }
    }

    let fields: [Field]

    /// Creates a pattern from its text.
    ///
    /// - Throws: ``Problem`` if the pattern is invalid or ambiguous.
    package init(_ pattern: String) throws(Problem) {
        var scan = DatePatternScan(pattern)
        fields = try scan.fields()
        try DatePatternScan.check(fields)
    }

    /// Checks the letters of a pattern that only exports use. Such a pattern may omit parts of a date.
    ///
    /// - Throws: ``Problem`` if the pattern has no letters, or other letters than ``init(_:)`` allows.
    package static func checkLetters(_ pattern: String) throws(Problem) {
        var scan = DatePatternScan(pattern)
        guard try scan.fields().contains(where: { $0.kind != .literal }) else {
            throw Problem(message: "it has no part of a date")
        }
    }
}

extension DatePattern.Field {
    var kind: Kind {
        switch self {
        case .year: .year
        case .month, .monthName: .month
        case .day: .day
        case .weekday: .weekday
        case .hour, .halfDayHour: .hour
        case .dayPeriod: .dayPeriod
        case .minute: .minute
        case .second: .second
        case .fraction: .fraction
        case .zone: .zone
        case .literal: .literal
        }
    }

    /// The number of digits of the field: 0 if the number varies, nil if its text does not begin with a digit. For a
    /// literal that begins with a digit, its length in bytes.
    var digits: Int? {
        switch self {
        case .year(let digits), .month(let digits), .day(let digits), .hour(let digits), .halfDayHour(let digits),
            .minute(let digits), .second(let digits):
            digits == 1 ? 0 : digits
        case .fraction(let digits): digits
        case .literal(let text): text.first.map(\.isDigit) == true ? text.count : nil
        case .monthName, .weekday, .dayPeriod, .zone: nil
        }
    }
}

extension DatePattern {
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ].map { Array($0.utf8) }

    /// The names of the weekdays, from Sunday.
    static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ].map { Array($0.utf8) }

    /// The earliest year that two digits stand for: `69` is 1969, and `68` is 2068.
    static let firstShortYear = 1969
}

// MARK: - Parsing

extension DatePattern {
    private typealias Text = UnsafeBufferPointer<UInt8>

    /// The parsed parts of a date, and the defaults of the others.
    private struct Parts {
        var year = 1
        var month = 1
        var day = 1
        var weekday: Int?
        var hour = 0
        var isHalfDay = false
        var isAfternoon = false
        var minute = 0
        var second = 0
        var milliseconds: Int64 = 0
        /// The offset from UTC in milliseconds, positive to the east.
        var zone: Int64 = 0
    }

    /// Parses text with this pattern. Returns milliseconds since 1970; nil if the text does not fit, or if the date or
    /// time does not exist.
    ///
    /// If the pattern has no zone, the date is in UTC. If it has no time, the time is midnight. If it has no month or
    /// day, the date is the first of the year or month.
    package func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var parts = Parts()
        var index = 0
        for field in fields {
            guard read(field, text, &index, &parts) else { return nil }
        }
        guard index == text.count else { return nil }
        if parts.isHalfDay {
            guard 1...12 ~= parts.hour else { return nil }
            parts.hour = parts.hour % 12 + (parts.isAfternoon ? 12 : 0)
        }
        let date = CalendarDate(year: parts.year, month: parts.month, day: parts.day)
        guard date.isValid, parts.hour < 24, parts.minute < 60, parts.second < 60 else { return nil }
        let days = date.daysSince1970
        if let weekday = parts.weekday, weekday != Self.weekday(ofDay: days) { return nil }
        let seconds = Int64(parts.hour * 3600 + parts.minute * 60 + parts.second)
        let value = Int64(days) * 86_400_000 + seconds * 1000 + parts.milliseconds - parts.zone
        return DateText.range.contains(value) ? value : nil
    }

    /// Returns the weekday of a day as a number: 0 is Sunday. 1 January 1970 was a Thursday.
    static func weekday(ofDay daysSince1970: Int) -> Int { ((daysSince1970 % 7) + 11) % 7 }

    private func read(_ field: Field, _ text: Text, _ index: inout Int, _ parts: inout Parts) -> Bool {
        switch field {
        case .literal(let bytes):
            guard text.count - index >= bytes.count else { return false }
            for (offset, byte) in bytes.enumerated() where text[index + offset] != byte { return false }
            index += bytes.count
        case .year(let digits):
            guard let year = Self.number(text, &index, digits: digits == 1 ? 1...4 : digits...digits) else {
                return false
            }
            let century = Self.firstShortYear / 100 * 100
            let isEarly = century + year < Self.firstShortYear
            parts.year = digits == 2 ? century + year + (isEarly ? 100 : 0) : year
        case .month(let digits): return Self.read(&parts.month, text, &index, digits)
        case .day(let digits): return Self.read(&parts.day, text, &index, digits)
        case .hour(let digits): return Self.read(&parts.hour, text, &index, digits)
        case .halfDayHour(let digits):
            parts.isHalfDay = true
            return Self.read(&parts.hour, text, &index, digits)
        case .minute(let digits): return Self.read(&parts.minute, text, &index, digits)
        case .second(let digits): return Self.read(&parts.second, text, &index, digits)
        case .monthName(let isShort):
            guard let month = Self.name(Self.months, isShort, text, &index) else { return false }
            parts.month = month + 1
        case .weekday(let isShort):
            guard let weekday = Self.name(Self.weekdays, isShort, text, &index) else { return false }
            parts.weekday = weekday
        case .dayPeriod:
            guard index + 2 <= text.count, text[index + 1] | .caseBit == UInt8(ascii: "m") else { return false }
            let first = text[index] | .caseBit
            guard first == UInt8(ascii: "a") || first == UInt8(ascii: "p") else { return false }
            parts.isAfternoon = first == UInt8(ascii: "p")
            index += 2
        case .fraction(let digits):
            guard let value = Self.number(text, &index, digits: digits...digits) else { return false }
            var milliseconds = value
            for _ in 0..<max(digits - 3, 0) { milliseconds /= 10 }
            for _ in 0..<max(3 - digits, 0) { milliseconds *= 10 }
            parts.milliseconds = Int64(milliseconds)
        case .zone:
            guard let zone = Self.zone(text, &index) else { return false }
            parts.zone = zone
        }
        return true
    }

    private static func read(_ value: inout Int, _ text: Text, _ index: inout Int, _ digits: Int) -> Bool {
        guard let number = number(text, &index, digits: digits == 1 ? 1...2 : 2...2) else { return false }
        value = number
        return true
    }

    private static func number(_ text: Text, _ index: inout Int, digits: ClosedRange<Int>) -> Int? {
        var value = 0
        var count = 0
        while count < digits.upperBound, index < text.count, text[index].isDigit {
            value = value * 10 + Int(text[index] &- .digit0)
            index += 1
            count += 1
        }
        return count < digits.lowerBound ? nil : value
    }

    /// Parses a name or, if `isShort` is true, its first three letters, in any case. Returns the index of the name; nil
    /// if the text has none.
    private static func name(_ names: [[UInt8]], _ isShort: Bool, _ text: Text, _ index: inout Int) -> Int? {
        for (position, name) in names.enumerated() {
            let name = isShort ? name.prefix(3) : name[...]
            guard text.count - index >= name.count else { continue }
            let isThis = zip(name, text[index...]).allSatisfy { $0 | .caseBit == $1 | .caseBit }
            guard isThis else { continue }
            index += name.count
            return position
        }
        return nil
    }

    /// Parses `Z`, `GMT`, `UTC`, `±hh`, `±hhmm` or `±hh:mm`. Returns the offset from UTC in milliseconds, positive to
    /// the east; nil for any other text.
    private static func zone(_ text: Text, _ index: inout Int) -> Int64? {
        guard index < text.count else { return nil }
        let rest = text[index...].prefix(3)
        if rest.elementsEqual("GMT".utf8) || rest.elementsEqual("UTC".utf8) {
            index += 3
            return 0
        }
        let sign = text[index]
        index += 1
        if sign == UInt8(ascii: "Z") { return 0 }
        guard sign == .plus || sign == .minus, let hours = number(text, &index, digits: 2...2) else { return nil }
        let hasColon = index < text.count && text[index] == .colon
        if hasColon { index += 1 }
        let hasMinutes = hasColon || (index < text.count && text[index].isDigit)
        guard let minutes = hasMinutes ? number(text, &index, digits: 2...2) : 0 else { return nil }
        guard hours < 24, minutes < 60 else { return nil }
        let east = Int64(hours * 60 + minutes) * 60_000
        return sign == .minus ? -east : east
    }
}

// MARK: - Writing

extension DatePattern {
    /// Returns the text of an instant in UTC; nil if the year is outside 1 to 9999, or cannot be written with the two
    /// digits of `yy`.
    ///
    /// The text lacks the parts that the pattern lacks, such as the time or the milliseconds.
    package func text(_ milliseconds: Int64) -> String? {
        guard DateText.range.contains(milliseconds) else { return nil }
        let sinceStart = milliseconds - DateText.range.lowerBound
        let date = CalendarDate(daysSinceYear1: UInt32(truncatingIfNeeded: sinceStart / 86_400_000))
        let time = Int(sinceStart % 86_400_000)
        var out: [UInt8] = []
        for field in fields {
            guard append(field, date, time, to: &out) else { return nil }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the text of a field. Returns false if the field cannot represent the year.
    ///
    /// - Parameter time: Milliseconds since midnight.
    private func append(_ field: Field, _ date: CalendarDate, _ time: Int, to out: inout [UInt8]) -> Bool {
        let hour = time / 3_600_000
        switch field {
        case .literal(let bytes): out += bytes
        case .year(digits: 2):
            guard Self.firstShortYear..<Self.firstShortYear + 100 ~= date.year else { return false }
            Self.append(date.year % 100, digits: 2, to: &out)
        case .year(let digits): Self.append(date.year, digits: digits, to: &out)
        case .month(let digits): Self.append(date.month, digits: digits, to: &out)
        case .monthName(let isShort): out += Self.name(Self.months[date.month - 1], isShort)
        case .day(let digits): Self.append(date.day, digits: digits, to: &out)
        case .weekday(let isShort): out += Self.name(Self.weekdays[Self.weekday(ofDay: date.daysSince1970)], isShort)
        case .hour(let digits): Self.append(hour, digits: digits, to: &out)
        case .halfDayHour(let digits): Self.append((hour + 11) % 12 + 1, digits: digits, to: &out)
        case .dayPeriod: out += (hour < 12 ? "AM" : "PM").utf8
        case .minute(let digits): Self.append(time / 60_000 % 60, digits: digits, to: &out)
        case .second(let digits): Self.append(time / 1000 % 60, digits: digits, to: &out)
        case .fraction(let digits):
            var all: [UInt8] = []
            Self.append(time % 1000, digits: 3, to: &all)
            all += repeatElement(.digit0, count: 6)
            out += all.prefix(digits)
        case .zone(let zone):
            switch zone {
            case .letter: out += "Z".utf8
            case .name: out += "GMT".utf8
            case .hours: out += "+00".utf8
            case .digits: out += "+0000".utf8
            case .colon: out += "+00:00".utf8
            }
        }
        return true
    }

    private static func name(_ name: [UInt8], _ isShort: Bool) -> ArraySlice<UInt8> {
        isShort ? name.prefix(3) : name[...]
    }

    /// Appends a number, with leading zeros if it has fewer digits.
    private static func append(_ value: Int, digits: Int, to out: inout [UInt8]) {
        let text = Array("\(value)".utf8)
        out += repeatElement(.digit0, count: max(0, digits - text.count))
        out += text
    }
}
