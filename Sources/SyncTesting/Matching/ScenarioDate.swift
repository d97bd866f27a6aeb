import Foundation

/// Dates as scenarios write them: `2024-02-29T18:29:59Z`, with a fraction if there is one.
///
/// Deliberately not the library's own parser, which the scenarios test.
enum ScenarioDate {
    /// The instant in milliseconds since 1970; nil if the text is not a UTC date in this form.
    static func milliseconds(_ text: String) -> Int64? {
        let form = /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?Z/
        guard let match = text.wholeMatch(of: form)?.output,
            let year = Int64(match.1), let month = Int64(match.2), let day = Int64(match.3),
            let hour = Int64(match.4), let minute = Int64(match.5), let second = Int64(match.6)
        else { return nil }
        let isReal = (1...12).contains(month) && (1...31).contains(day) && hour < 24 && minute < 60 && second < 60
        guard isReal else { return nil }
        let fraction = Int64((match.7.map(String.init) ?? "").padding(toLength: 3, withPad: "0", startingAt: 0)) ?? 0
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        return seconds * 1000 + fraction
    }

    static func milliseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? .max
    }

    static func date(_ text: String) -> Date? {
        milliseconds(text).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    static func text(_ date: Date) -> String {
        let total = milliseconds(date)
        let (day, time) = total.quotientAndRemainder(floor: 86_400_000)
        let (year, month, dayOfMonth) = civil(day)
        let seconds = time / 1000
        let fraction = time % 1000 == 0 ? "" : "." + padded(time % 1000, 3)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T\(clock)\(fraction)Z"
    }

    // MARK: Calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms")

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.quotientAndRemainder(floor: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(floor: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

extension Int64 {
    fileprivate func quotientAndRemainder(floor divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
