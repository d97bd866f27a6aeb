import SyncCore

/// A record of the payload, once it is known which row it is about.
struct ReferenceMention: Sendable {
    /// What the record says about one of its relationships, with the rows it speaks of.
    struct Statement: Sendable {
        enum Target: Sendable {
            /// The row of a record; whether the record may be linked.
            case row(ReferenceRow.ID, links: Bool)
            /// A row known by its key, stored or not.
            case key(ReferenceTarget)
        }

        var relationship: CompiledRelationship
        var targets: [Target] = []
        /// Whether links that are not listed go.
        var removes = false
        /// If not nil, only links to these rows may go.
        var removable: Set<ReferenceRow.ID>?
        /// Whether the rows of those links go too.
        var deletes = false
        /// Whether a rule decides the link, so that only the records in it count.
        var isOverruled = false
        /// The records inside, in document order.
        var inner: [ReferenceMention] = []
    }

    var row: ReferenceRow.ID
    var statements: [Statement] = []

    /// Every statement in it that counts, in document order, with the row it is about.
    var allStatements: [(row: ReferenceRow.ID, statement: Statement)] {
        statements.flatMap { statement in
            (statement.isOverruled ? [] : [(row, statement)]) + statement.inner.flatMap(\.allStatements)
        }
    }
}
