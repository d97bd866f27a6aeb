/// That a change is no edit: the engine deleted or unlinked the row because of another one. It gives way to what the server has.
///
/// The `reason` of its line in the outbox begins with the mark, also while the line is parked. Every edit removes it.
enum CascadeMark {
    /// The reason of a line that is not parked.
    static let text = "cascade"
    /// What separates the mark from the reason that a line is parked for.
    private static let separator: Character = "\u{1F}"
    private static let prefix = "'\(text)' || char(31)"

    /// Whether a line has it, as SQL; never NULL.
    static let isSet =
        "(substr(coalesce(\"reason\", '') || char(31), 1, \(text.count + 1)) = \(prefix))"
    /// The reason of a line that is sent again, as SQL.
    static let kept = "CASE WHEN \(isSet) THEN '\(text)' END"

    /// The reason of a line that is parked, as SQL.
    static func parked(_ reason: String = "?") -> String {
        "CASE WHEN \(isSet) THEN \(prefix) ELSE '' END || \(reason)"
    }

    /// Whether a line is parked for a reason, as SQL; never NULL.
    static func isBlocked(for reason: String) -> String {
        "(coalesce(\"reason\", '') IN (\(reason.literal), \(prefix) || \(reason.literal)))"
    }

    /// A reason as people read it.
    static func shown(_ reason: String) -> String {
        guard reason.hasPrefix("\(text)\(separator)") else { return reason }
        return String(reason.drop { $0 != separator }.dropFirst())
    }
}
