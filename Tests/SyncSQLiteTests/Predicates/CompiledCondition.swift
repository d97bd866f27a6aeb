import SyncCore

/// A condition on the rows of a ``PredicateStore``, and the SQL that it compiles to.
struct CompiledCondition: Sendable {
    let entity: String
    let predicate: RowPredicate
    /// Includes the entity condition if the table has rows of other entities.
    let sql: String
    /// The bound values, as literals.
    let arguments: String
}
