import SyncCore

/// What tells a state of a row at a service from another: a word, which is a number or a time where versions have an order.
package struct RowVersion: Sendable {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Whether two are the same, however a time is spelled.
    package func isSame(as other: RowVersion) -> Bool {
        if text == other.text { return true }
        guard let (time, rest) = time, let (otherTime, otherRest) = other.time else { return false }
        return time == otherTime && rest == otherRest
    }

    /// Whether it comes before another one. Words that are neither numbers nor times have no order.
    private func isOlder(than other: RowVersion) -> Bool {
        if let number = Int64(text), let otherNumber = Int64(other.text) { return number < otherNumber }
        guard let time, let otherTime = other.time else { return false }
        return time < otherTime
    }

    /// Whether it comes before the version that is known of its row: a replica that is behind has it.
    ///
    /// A known version that is a time of the future was never right, or the server's clock was set back since: none is older.
    ///
    /// - Parameters:
    ///   - now: The clock of this device, in milliseconds since 1970.
    ///   - serverTime: The server's clock when it answered. A minute more than that is the future; a day where a version says no
    ///     time zone, or the server no time.
    package func isBehind(_ known: RowVersion, at now: Int64, serverTime: Int64? = nil) -> Bool {
        guard isOlder(than: known) else { return false }
        guard let time = known.time?.0 else { return true }
        if let serverTime, known.hasZone { return time <= serverTime + Self.minute }
        return time <= max(now, serverTime ?? .min) + Self.day
    }

    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether a time says its time zone.
    private var hasZone: Bool {
        text.hasSuffix("Z") || text.dropFirst("2026-01-01".count).contains { "+-".contains($0) }
    }

    /// The milliseconds since 1970 of a time that is written as a date, and the digits of its fraction behind those.
    private var time: (Int64, String)? {
        guard text.contains(":"),
            let milliseconds = Array(text.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) })
        else { return nil }
        let fraction = text.drop { $0 != "." && $0 != "," }.dropFirst().prefix { $0.isNumber }.dropFirst(3)
        return (milliseconds, String(fraction.reversed().drop { $0 == "0" }.reversed()))
    }
}
