public import GRDB
public import SyncCore

extension DataStack {
    /// The rows of an entity as JSON, under the keys a sync reads them from.
    ///
    /// ```swift
    /// let users = try await stack.export("User", where: "age >= 18")
    /// // [{"id": 6, "first_name": "Ann", "notes": [{"id": 1, "text": "Buy milk"}]}, …]
    /// ```
    /// Nil is `null`; a to-one relationship without a target is left out. Relationships are followed to any depth,
    /// but never back along the one just followed nor to a row that is being exported; a list with such a row is left
    /// out whole, and so is a relationship that waits for rows a sync referred to before they arrived. What was synced
    /// is exported so that syncing it again changes nothing.
    ///
    /// - Parameter limit: How many rows there are at most; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `storeFailure`.
    public func export(
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        try reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// The rows of an entity as JSON, under the keys a sync reads them from.
    public func export(
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        try await reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// The rows of an entity as JSON, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func export(
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions(), in db: Database
    ) throws -> [JSONValue] {
        var records: [JSONValue] = []
        try exportEach(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db) { record in
            records.append(record)
        }
        return records
    }
}
