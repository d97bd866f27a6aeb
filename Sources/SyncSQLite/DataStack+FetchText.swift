import SyncCore

extension DataStack {
    /// The rows of an entity for which a condition given as text holds. A value that varies goes in as an argument
    /// of ``RecordPredicate/where(_:_:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column, and what the form with a predicate throws.
    public func fetch(
        _ entity: String, where text: String, orderedBy order: RecordOrder = .byKey, limit: Int? = nil
    ) throws -> [SyncRecord] {
        try fetch(entity, where: try RecordPredicate(parsing: text), orderedBy: order, limit: limit)
    }

    /// The rows of an entity for which a condition given as text holds.
    public func fetch(
        _ entity: String, where text: String, orderedBy order: RecordOrder = .byKey, limit: Int? = nil
    ) async throws -> [SyncRecord] {
        try await fetch(entity, where: try RecordPredicate(parsing: text), orderedBy: order, limit: limit)
    }

    /// How many rows of an entity a condition given as text holds for.
    public func count(_ entity: String, where text: String) throws -> Int {
        try count(entity, where: try RecordPredicate(parsing: text))
    }

    /// How many rows of an entity a condition given as text holds for.
    public func count(_ entity: String, where text: String) async throws -> Int {
        try await count(entity, where: try RecordPredicate(parsing: text))
    }
}
