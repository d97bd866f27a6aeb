public import Foundation
public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Exports the rows of an entity and its subentities as JSON.
    package func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        try reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// Exports the rows of an entity as JSON, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``SyncStack/export(_:where:orderedBy:limit:options:)``. Errors of SQLite are thrown as
    ///   GRDB's `DatabaseError`.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions(), in db: Database
    ) throws -> [JSONValue] {
        try checkTables(db)
        let query = try RowQuery(
            model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit)
        return try RowExport(SQLiteReader(db, self), model, query, options).records()
    }

    /// Exports the rows of an entity as JSON, one record at a time, in one read transaction. The rows of up to 256
    /// records are in memory at a time, or of fewer records if these have more than 10,000 related rows.
    ///
    /// - Parameters:
    ///   - offset: The number of rows to skip.
    ///   - body: A function that receives each record in order. If the function throws, the export ends and throws the
    ///     error.
    package func exportEach(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(), _ body: (JSONValue) throws -> Void
    ) throws {
        try reading { db in
            let query = try RowQuery(
                model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit, offset: offset)
            try RowExport(SQLiteReader(db, self), model, query, options).forEachRecord(body)
        }
    }

    /// Exports the rows of an entity and its subentities as JSON text in buffers, in one read transaction. Use this
    /// method for exports that can exceed the available memory.
    ///
    /// ```swift
    /// try stack.writeExport("User", as: .ndjson) { try file.write(contentsOf: $0) }
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
    public func writeExport(
        _ entity: String, as form: PayloadFormat = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: (Data) throws -> Void
    ) throws {
        try reading { db in
            let query = try RowQuery(
                model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit, offset: offset)
            try RowExport(SQLiteReader(db, self), model, query, options).write(as: form, write)
        }
    }

    /// Exports the rows of an entity that match a condition, given as a string. For values from variables, use
    /// ``RowPredicate/where(_:_:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with the line and column of the problem, and the errors of the method
    ///   with a ``RowPredicate``.
    package func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }
}
