/// What a pass over stored rows is for.
package enum MatchPass: Sendable {
    /// Presence, entity and links only: which records count is not decided yet.
    case meet
    /// Values only.
    case compare
    /// Everything at once, where all records count.
    case both
}
