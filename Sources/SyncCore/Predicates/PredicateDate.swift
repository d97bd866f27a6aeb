import Foundation

/// Dates in conditions: text to the millisecond.
package enum PredicateDate {
    private static let dayLength: Int64 = 86_400_000
    private static let range: Range<Int64> = -62_135_596_800_000..<253_402_300_800_000

    /// `2024-02-29T18:29:59.999Z`; nil outside the years 1 to 9999.
    static func text(of date: Date) -> String? {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        guard let exact = Int64(exactly: milliseconds), range.contains(exact) else { return nil }
        return text(milliseconds: exact, separator: "T") + "Z"
    }

    /// The text of a date column: `2024-02-29 18:29:59.999`.
    package static func columnText(milliseconds: Int64) -> String { text(milliseconds: milliseconds, separator: " ") }

    private static func text(milliseconds: Int64, separator: String) -> String {
        let (day, time) = milliseconds.floored(by: dayLength)
        let (year, month, dayOfMonth) = civil(day)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        let clock = "\(padded(time / 3_600_000, 2)):\(padded(time / 60_000 % 60, 2)):\(padded(time / 1000 % 60, 2))"
        return "\(date)\(separator)\(clock).\(padded(time % 1000, 3))"
    }

    /// The civil date of a day counted from 1970, by eras of 400 years that begin in March.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (day + 719_468).floored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).floored(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // MARK: Reading

    /// ISO 8601: a date alone, or with a time, a fraction and a zone. No zone means UTC.
    package static func milliseconds(iso text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4), rest.popFirst() == UInt8(ascii: "-"), let month = number(&rest, 2),
            rest.popFirst() == UInt8(ascii: "-"), let day = number(&rest, 2), (1...12).contains(month), day > 0
        else { return nil }
        let days = Self.day(year: year, month: month, day: day)
        guard civil(days) == (year, month, day) else { return nil }
        guard let separator = rest.popFirst() else { return checked(days * dayLength) }
        guard [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(separator),
            let time = time(&rest), let zone = zone(&rest), rest.isEmpty
        else { return nil }
        return checked(days * dayLength + time - zone)
    }

    /// Unix time in seconds, milliseconds, microseconds or nanoseconds, told apart by size.
    package static func milliseconds(unixTime number: ExactNumber) -> Int64? {
        let power =
            switch number.wholeDigits {
            case ...11: 3
            case ...14: 0
            case ...17: -3
            default: -6
            }
        return number.text.flatMap { ExactNumber("\($0)e\(power)") }?.floor.flatMap(checked)
    }

    private static func checked(_ milliseconds: Int64) -> Int64? {
        range.contains(milliseconds) ? milliseconds : nil
    }

    private static func number(_ text: inout ArraySlice<UInt8>, _ width: Int) -> Int64? {
        let digits = text.prefix(width)
        guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        text = text.dropFirst(width)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func time(_ text: inout ArraySlice<UInt8>) -> Int64? {
        guard let hour = number(&text, 2), hour < 24, text.popFirst() == UInt8(ascii: ":"),
            let minute = number(&text, 2), minute < 60
        else { return nil }
        var milliseconds = (hour * 60 + minute) * 60_000
        guard text.first == UInt8(ascii: ":") else { return milliseconds }
        text.removeFirst()
        guard let second = number(&text, 2), second < 60 else { return nil }
        milliseconds += second * 1000
        guard text.first == UInt8(ascii: ".") || text.first == UInt8(ascii: ",") else { return milliseconds }
        text.removeFirst()
        let digits = text.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        text = text.dropFirst(digits.count)
        let fraction = (digits.prefix(3) + [0x30, 0x30]).prefix(3)
        return milliseconds + fraction.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// The offset from UTC.
    private static func zone(_ text: inout ArraySlice<UInt8>) -> Int64? {
        guard let mark = text.popFirst() else { return 0 }
        switch mark {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return 0
        case UInt8(ascii: "+"), UInt8(ascii: "-"): break
        default: return nil
        }
        guard let hours = number(&text, 2), hours < 24 else { return nil }
        if text.first == UInt8(ascii: ":") { text.removeFirst() }
        let minutes = text.isEmpty ? 0 : number(&text, 2)
        guard let minutes, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * 60_000 * (mark == UInt8(ascii: "-") ? -1 : 1)
    }
}

extension Int64 {
    /// Quotient and remainder of a division that rounds down.
    fileprivate func floored(by divisor: Int64) -> (Int64, Int64) {
        let remainder = ((self % divisor) + divisor) % divisor
        return ((self - remainder) / divisor, remainder)
    }
}
