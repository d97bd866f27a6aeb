/// What opening a store with another model may do to the rows it has.
public enum MigrationPolicy: Sendable, Hashable {
    /// Whatever the new model has a place for is kept; a model that would lose rows, values or links is refused.
    case keepingData
    /// What the new model has no place for is lost.
    case allowingLoss
}
