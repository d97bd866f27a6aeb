/// The mark of a pending change that the engine made because it deleted another row. The change is not an edit. If the
/// service has another version of the row, that version wins.
///
/// The reason of the change begins with the mark, also while the change is blocked. An edit of the row removes the
/// mark.
enum CascadeMarker {
    /// The reason of a marked change that is not blocked.
    static let text = "cascade"
    /// The separator between the mark and the reason of a blocked change.
    private static let separator: Character = "\u{1F}"
    private static let prefix = "'\(text)' || char(31)"

    /// The SQL condition that a change has the mark. It is never NULL.
    static let isSet =
        "(substr(coalesce(\"reason\", '') || char(31), 1, \(text.count + 1)) = \(prefix))"
    /// The SQL of the reason to set when a change is unblocked. It keeps the mark.
    static let preserved = "CASE WHEN \(isSet) THEN '\(text)' END"

    /// Returns the SQL of the reason to set when a change is blocked. It keeps the mark.
    static func blocked(_ reason: String = "?") -> String {
        "CASE WHEN \(isSet) THEN \(prefix) ELSE '' END || \(reason)"
    }

    /// Returns the SQL condition that a change is blocked for a reason. It is never NULL.
    static func isBlocked(for reason: String) -> String {
        "(coalesce(\"reason\", '') IN (\(reason.literal), \(prefix) || \(reason.literal)))"
    }

    /// The SQL condition that a change is blocked because the service does not have the row. It is never NULL.
    static let isBlockedAsMissing = isBlocked(for: RequestCompletion.notFoundReason)

    /// Returns whether a reason has the mark.
    static func isMarked(_ reason: String?) -> Bool {
        reason.map { $0 == text || $0.hasPrefix("\(text)\(separator)") } ?? false
    }

    /// Returns the reason of a blocked change without the mark, for users.
    static func shown(_ reason: String) -> String {
        guard reason.hasPrefix("\(text)\(separator)") else { return reason }
        return String(reason.drop { $0 != separator }.dropFirst())
    }
}
