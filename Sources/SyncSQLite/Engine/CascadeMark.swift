/// Marks a change that the engine made because it deleted another row. It is not an edit, and the service's version
/// wins.
///
/// The `reason` of the outbox entry begins with the mark, also while the change is blocked. Every edit removes the
/// mark.
enum CascadeMark {
    /// The reason of a marked change that is not blocked.
    static let text = "cascade"
    /// The separator between the mark and the reason of a blocked change.
    private static let separator: Character = "\u{1F}"
    private static let prefix = "'\(text)' || char(31)"

    /// The condition that an outbox entry has the mark. It is never NULL.
    static let isSet =
        "(substr(coalesce(\"reason\", '') || char(31), 1, \(text.count + 1)) = \(prefix))"
    /// The SQL of the reason of a change that is unblocked. It keeps the mark.
    static let preserved = "CASE WHEN \(isSet) THEN '\(text)' END"

    /// Returns the SQL of the reason of a change that becomes blocked. It keeps the mark.
    static func blocked(_ reason: String = "?") -> String {
        "CASE WHEN \(isSet) THEN \(prefix) ELSE '' END || \(reason)"
    }

    /// Returns the condition that a change is blocked for a reason. It is never NULL.
    static func isBlocked(for reason: String) -> String {
        "(coalesce(\"reason\", '') IN (\(reason.literal), \(prefix) || \(reason.literal)))"
    }

    /// Returns a reason without the mark, for users.
    static func shown(_ reason: String) -> String {
        guard reason.hasPrefix("\(text)\(separator)") else { return reason }
        return String(reason.drop { $0 != separator }.dropFirst())
    }
}
