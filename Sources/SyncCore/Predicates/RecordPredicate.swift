/// A condition on the rows of an entity.
public struct RecordPredicate: Sendable, Hashable {
    /// Holds for every row.
    public static let all = RecordPredicate()
}
