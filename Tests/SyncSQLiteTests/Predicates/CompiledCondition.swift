import SyncCore

/// A condition on the rows of a ``PredicateStore``, and what it is compiled to for SQLite.
struct CompiledCondition: Sendable {
    let entity: String
    let predicate: RowPredicate
    /// With the condition that rows are of the entity, if the table has others.
    let sql: String
    /// The values bound, as literals.
    let arguments: String
}
