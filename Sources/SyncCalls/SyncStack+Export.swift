public import Foundation
public import SyncCore
import SyncStore

extension SyncStack {
    /// Exports the rows of an entity and its subentities as JSON that a sync can read.
    ///
    /// ```swift
    /// let users = try await stack.export("User", where: "age >= 18")
    /// // [{"id": 6, "first_name": "Ann", "notes": [{"id": 1, "text": "Buy milk"}]}, …]
    /// ```
    /// An attribute without a value is `null` in the record. If a sync would read this `null` as the removal of a link,
    /// the record omits the attribute. The record also omits a to-one relationship without a row. By default, a record
    /// contains the records of related rows, up to the nesting depth that a sync can read.
    ///
    /// A record omits these relationships:
    ///
    /// - The inverse of the relationship that contains the record
    /// - A to-one relationship to an enclosing row
    /// - A to-many relationship that includes an enclosing row
    /// - A relationship with pending references
    ///
    /// If a relationship of the second kind is part of the primary key, the record contains the key of the enclosing
    /// row.
    ///
    /// - Parameter limit: The maximum number of rows to export; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `invalidOption` for an order by a to-many relationship.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        try await exporting(entity, predicate, order, limit, 0, options) { try $0.records() }
    }

    /// Exports the rows of an entity and its subentities as JSON text in buffers, from one state of the store. Use this
    /// method for exports that can exceed the available memory. Cancelling the task ends the export.
    ///
    /// ```swift
    /// try await stack.export("User", as: .ndjson) { try file.write(contentsOf: $0) }
    /// ```
    /// - Parameters:
    ///   - form: `.json` for an array of records, or `.ndjson` for one record on each line. If `options` sets
    ///     `keyedBy`, the `.json` form is an object with a member for each record. The encoding is UTF-8.
    ///   - limit: The maximum number of rows to export; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - write: A function that receives each buffer. Each buffer except the last has at least 65,536 bytes. If the
    ///     function throws, the export ends and throws the error.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `invalidOption` for another format, for `keyedBy` with `.ndjson`, and for an order by a to-many relationship.
    ///   `typeMismatch` if the `keyedBy` value of a row is not a unique object key.
    public func export(
        _ entity: String, as form: PayloadFormat, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        try await exporting(entity, predicate, order, limit, offset, options) { try $0.write(as: form, write) }
    }

    /// Exports the rows of an entity as JSON, one record at a time, from one state of the store. Cancelling the task
    /// ends the export.
    ///
    /// - Parameters:
    ///   - offset: The number of rows to skip.
    ///   - body: A function that receives each record in order. If the function throws, the export ends and throws the
    ///     error.
    package func exportEach(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(),
        _ body: @escaping @Sendable (JSONValue) throws -> Void
    ) async throws {
        try await exporting(entity, predicate, order, limit, offset, options) { try $0.forEachRecord(body) }
    }

    /// Exports the rows of an entity that match a condition, given as a string.
    package func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try await export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }

    private func exporting<Result: Sendable>(
        _ entity: String, _ predicate: RowPredicate, _ order: RowOrder, _ limit: Int?, _ offset: Int,
        _ options: ExportOptions, _ body: @escaping @Sendable (RowExport) throws -> Result
    ) async throws -> Result {
        let store = store
        return try await store.withReader { [model = store.model] reader in
            let query = try RowQuery(
                model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit, offset: offset)
            return try body(RowExport(reader, model, query, options))
        }
    }
}
