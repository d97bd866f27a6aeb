import Foundation

/// Times as milliseconds since 1970, and their text.
enum Timestamp {
    /// Returns the text of a time, such as `2026-01-31T12:00:00.000Z`, or without milliseconds.
    static func text(_ time: Int, coarse: Bool) -> String {
        // Only whole seconds, because a `Date` cannot represent milliseconds exactly.
        let seconds = Date(timeIntervalSince1970: Double(time / 1000)).formatted(.iso8601)
        if coarse { return seconds }
        let digits = String(1000 + time % 1000).dropFirst()
        return seconds.dropLast() + ".\(digits)Z"
    }

    /// Parses a time with or without a fraction and in any time zone; nil if it is invalid.
    static func time(_ text: String) -> Int? {
        let pattern = #/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)/#
        guard let match = text.wholeMatch(of: pattern),
            let date = try? Date(String(match.1 + match.3), strategy: .iso8601)
        else { return nil }
        let digits = ((match.2 ?? "") + "000").prefix(3)
        return Int(date.timeIntervalSince1970) * 1000 + (Int(digits) ?? 0)
    }
}
