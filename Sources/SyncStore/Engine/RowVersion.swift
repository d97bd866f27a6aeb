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
    /// A known version that is a time of the future was never right, so that none is older.
    ///
    /// - Parameter now: The later of the clocks that are known, in milliseconds since 1970. A day more than that is the future.
    package func isBehind(_ known: RowVersion, at now: Int64) -> Bool {
        guard isOlder(than: known) else { return false }
        return known.time.map { $0.0 <= now + Self.day } ?? true
    }

    private static let day: Int64 = 86_400_000

    /// The milliseconds since 1970 of a time that is written as a date, and the digits of its fraction behind those.
    private var time: (Int64, String)? {
        guard text.contains(":"),
            let milliseconds = Array(text.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) })
        else { return nil }
        let fraction = text.drop { $0 != "." && $0 != "," }.dropFirst().prefix { $0.isNumber }.dropFirst(3)
        return (milliseconds, String(fraction.reversed().drop { $0 == "0" }.reversed()))
    }
}
