/// Instants as a number of seconds, or of parts of one, since 1970.
package enum UnixTime: String, Sendable, Hashable, CaseIterable {
    case seconds, milliseconds, microseconds, nanoseconds

    /// How many places the point moves to the right to give milliseconds.
    private var shift: Int {
        switch self {
        case .seconds: 3
        case .milliseconds: 0
        case .microseconds: -3
        case .nanoseconds: -6
        }
    }

    /// The milliseconds of a number, cut; nil for text that is none, and for years outside 1 to 9999.
    package func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        NumberText.parts(text).flatMap { DateParser.milliseconds($0, shift: shift) }
    }

    /// The number of an instant, exactly.
    package func text(_ milliseconds: Int64) -> String {
        guard self == .seconds else {
            return milliseconds == 0 ? "0" : "\(milliseconds)" + String(repeating: "0", count: -shift)
        }
        let (whole, part) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        var text = (milliseconds < 0 ? "-" : "") + "\(whole)"
        guard part > 0 else { return text }
        var fraction = "\(part + 1000)".dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        text += "." + fraction
        return text
    }
}
