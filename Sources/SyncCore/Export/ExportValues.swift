import Foundation

/// Converts the values of attributes to their exported JSON.
package struct ExportValues {
    private let dates: ExportDates

    package init(_ options: ExportOptions = ExportOptions()) { dates = ExportDates(options) }

    /// Returns the exported JSON of a value, or nil if the conversion fails. The JSON is null if a number or date has
    /// no JSON form.
    package func json(_ value: StoredValue, _ conversion: ValueConversion?) -> JSONValue? {
        var output = RecordValue()
        return write(value, conversion, levels: .max, to: &output) ? output.value : nil
    }

    /// Writes the exported JSON of a value. Writes nothing and returns false if the conversion fails, or if the value
    /// is nested too deeply.
    ///
    /// - Parameter levels: The largest number of nested objects and arrays.
    func write(
        _ value: StoredValue, _ conversion: ValueConversion?, levels: Int, to output: inout some RecordOutput
    ) -> Bool {
        switch (value, conversion) {
        case (.null, _): output.write(.null)
        case (_, let conversion?):
            guard let json = conversion.json(value), json.isNested(atMost: levels) else { return false }
            output.write(json)
        case (.date(let date), nil): dates.write(date, to: &output)
        case (.double(let number), nil) where !number.isFinite: output.write(.null)
        // These are the most frequent values. Their text needs no JSON value.
        case (.string(let text), nil), (.url(let text), nil): output.write(string: text)
        case (.integer(let number), nil): output.write(integer: number)
        case (_, nil):
            let json = value.jsonForm
            guard json.isNested(atMost: levels) else { return false }
            output.write(json)
        }
        return true
    }
}

extension JSONValue {
    fileprivate func isNested(atMost levels: Int) -> Bool {
        switch self {
        case .null, .bool, .number, .string: true
        case .array(let elements): levels > 0 && elements.allSatisfy { $0.isNested(atMost: levels - 1) }
        case .object(let members): levels > 0 && members.allSatisfy { $0.value.isNested(atMost: levels - 1) }
        }
    }
}

/// Writes dates in the format and time zone of the options.
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
        // Use the proleptic Gregorian calendar, as the reader does.
        formatter.gregorianStartDate = .distantPast
        formatter.dateFormat = pattern
        self.formatter = formatter
    }

    /// Writes a date; null for a date outside the years 1 to 9999.
    func write(_ date: Date, to output: inout some RecordOutput) {
        guard let milliseconds = date.milliseconds else { return output.write(.null) }
        if let formatter {
            output.write(string: formatter.string(from: Date(milliseconds: milliseconds)))
        } else if let local = local(milliseconds, offset: timeZone.secondsFromGMT(for: date)) {
            output.write(string: local)
        } else {
            output.write(date: milliseconds)
        }
    }

    /// Returns the text of a time with a UTC offset; nil for a time in UTC.
    ///
    /// The time is in UTC if the local time is out of range, or if the offset is not a whole number of minutes, as
    /// before standard time.
    private func local(_ milliseconds: Int64, offset: Int) -> String? {
        let shifted = milliseconds + Int64(offset) * 1000
        guard offset != 0, offset % 60 == 0, DateText.range.contains(shifted) else { return nil }
        let minutes = abs(offset) / 60
        let sign = offset < 0 ? "-" : "+"
        return DateText.iso(shifted).dropLast() + sign + Self.twoDigits(minutes / 60) + ":"
            + Self.twoDigits(minutes % 60)
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
