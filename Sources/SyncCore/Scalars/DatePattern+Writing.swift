extension DatePattern {
    /// The text of an instant in UTC; nil for a year that two digits do not tell.
    ///
    /// What the pattern has no place for is left out: a time, or the milliseconds.
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

    /// With zeros in front, if there are more digits than the number has.
    private static func append(_ value: Int, digits: Int, to out: inout [UInt8]) {
        let text = Array("\(value)".utf8)
        out += repeatElement(.digit0, count: max(0, digits - text.count))
        out += text
    }
}
