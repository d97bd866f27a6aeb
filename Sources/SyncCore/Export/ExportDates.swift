import Foundation

/// Writes dates as the options of one export want them.
struct ExportDates {
    private let timeZone: TimeZone
    private let formatter: DateFormatter?

    init(_ options: ExportOptions) {
        timeZone = options.timeZone
        guard case .pattern(let pattern) = options.dateFormat else {
            formatter = nil
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = timeZone
        // The calendar that dates are read in: Gregorian also before there was one.
        formatter.gregorianStartDate = .distantPast
        formatter.dateFormat = pattern
        self.formatter = formatter
    }

    func text(_ date: Date) -> JSONValue {
        guard let milliseconds = date.milliseconds else { return .null }
        if let formatter { return .string(formatter.string(from: Date(milliseconds: milliseconds))) }
        return .string(local(milliseconds, offset: timeZone.secondsFromGMT(for: date)))
    }

    /// In UTC also where an offset cannot be written (of the times before time zones) or leads out of the calendar.
    private func local(_ milliseconds: Int64, offset: Int) -> String {
        let shifted = milliseconds + Int64(offset) * 1000
        guard offset != 0, offset % 60 == 0, DateText.range.contains(shifted) else { return DateText.iso(milliseconds) }
        let minutes = abs(offset) / 60
        let sign = offset < 0 ? "-" : "+"
        return DateText.iso(shifted).dropLast() + sign + Self.twoDigits(minutes / 60) + ":"
            + Self.twoDigits(minutes % 60)
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
