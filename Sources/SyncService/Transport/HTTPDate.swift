import Foundation

/// Dates in headers.
enum HTTPDate {
    /// `Mon, 23 Nov 2026 16:34:43 GMT`; nil for anything else.
    static func date(_ text: String) -> Date? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, let day = Int(parts[1]), let month = months.firstIndex(of: String(parts[2])),
            let year = Int(parts[3])
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3 else { return nil }
        func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let iso =
            "\(year)-\(padded(month + 1))-\(padded(day))T\(padded(clock[0])):\(padded(clock[1])):\(padded(clock[2]))Z"
        return Date(isoText: iso)
    }
}
