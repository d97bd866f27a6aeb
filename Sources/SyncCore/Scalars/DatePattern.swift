import Foundation

/// A date pattern of Unicode Technical Standard 35, of the letters that can be read without doubt.
///
/// Years (`yyyy`, `y`, `yy`), months (`M`, `MM`, `MMM`, `MMMM`), days (`d`, `dd`), weekdays (`E` to `EEE`, `EEEE`), hours
/// (`H`, `HH`, or `h`, `hh` with `a`), minutes (`m`, `mm`), seconds (`s`, `ss`), fractions (`S` to `SSSSSSSSS`), zones
/// (`X`, `XX`, `XXX`, `x`, `xx`, `xxx`, `Z`, `ZZZZZ`, `z`); text between apostrophes, and whatever is no letter, stands for
/// itself. Names are English.
package struct DatePattern: Sendable, Hashable {
    enum Field: Sendable, Hashable {
        case year(digits: Int)
        case month(digits: Int)
        case monthName(isShort: Bool)
        case day(digits: Int)
        case weekday(isShort: Bool)
        case hour(digits: Int)
        /// From 1 to 12, before or after noon.
        case halfDayHour(digits: Int)
        case dayPeriod
        case minute(digits: Int)
        case second(digits: Int)
        case fraction(digits: Int)
        case zone(Zone)
        case literal([UInt8])

        /// What may be there once only.
        enum Kind: Hashable { case year, month, day, weekday, hour, dayPeriod, minute, second, fraction, zone, literal }
    }

    /// How a zone is written; any form is read.
    enum Zone: Sendable, Hashable {
        /// `Z`.
        case letter
        /// `GMT`.
        case name
        /// `+00`, `+0000`, `+00:00`.
        case hours, digits, colon
    }

    /// What is wrong with a pattern.
    package struct Problem: LocalizedError {
        package let message: String
        package var errorDescription: String? { message }
    }

    let fields: [Field]

    /// Takes a pattern apart.
    package init(_ pattern: String) throws(Problem) {
        var scan = DatePatternScan(pattern)
        fields = try scan.fields()
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

    /// How many digits it has: nil for what is no number, 0 for one or more.
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

    /// From Sunday on.
    static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ].map { Array($0.utf8) }

    /// The first year that two digits stand for: `69` is 1969, `68` is 2068.
    static let firstShortYear = 1969
}
