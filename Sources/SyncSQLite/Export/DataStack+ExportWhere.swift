public import SyncCore

extension DataStack {
    /// The rows of an entity for which a condition given as text holds, as JSON. A value that varies goes in as an
    /// argument of ``RecordPredicate/where(_:_:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column, and what the form with a predicate throws.
    public func export(
        _ entity: String, where text: String, orderedBy order: RecordOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        let predicate = try RecordPredicate(parsing: text)
        return try export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }

    /// The rows of an entity for which a condition given as text holds, as JSON.
    public func export(
        _ entity: String, where text: String, orderedBy order: RecordOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        let predicate = try RecordPredicate(parsing: text)
        return try await export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }
}
