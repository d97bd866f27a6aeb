public import Foundation
public import GRDB
public import SyncCore

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
        try await reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// Exports the rows of an entity as JSON, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``export(_:where:orderedBy:limit:options:)-(_,RowPredicate,_,_,_)``. Errors of SQLite
    ///   are thrown as GRDB's `DatabaseError`.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions(), in db: Database
    ) throws -> [JSONValue] {
        try checkTables(db)
        var records: [JSONValue] = []
        try exportEach(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db) { record in
            records.append(record)
        }
        return records
    }
}

// MARK: - Export each

extension DataStack {
    /// Exports the rows of an entity as JSON, one record at a time, in one read transaction. The rows of up to 256
    /// records are in memory at a time, or of fewer records if these have more than 10,000 related rows.
    ///
    /// ``export(_:where:orderedBy:limit:options:)-(_,RowPredicate,_,_,_)`` documents the contents of a record.
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
            try self.exportEach(
                entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db, body
            )
        }
    }

    /// Exports the rows of an entity as JSON, one row at a time, in one read transaction. Cancelling the task ends the
    /// export.
    package func exportEach(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(),
        _ body: @escaping @Sendable (JSONValue) throws -> Void
    ) async throws {
        try await reading { db in
            try self.exportEach(
                entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db, body
            )
        }
    }

    /// Exports the rows of an entity as JSON, one row at a time, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    package func exportEach(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(), in db: Database,
        _ body: (JSONValue) throws -> Void
    ) throws {
        let entity = try model.compiled.entity(named: entity)
        let (select, rest, arguments) = try selection(
            of: entity, where: predicate, orderedBy: order, limit: limit, offset: offset)
        let reader = try ExportReader(db, layout)
        var exporter = RecordExporter(model: model, options: options, source: reader)
        try reader.forEachRow(select, rest, arguments) { row in
            try body(exporter.record(row, of: entity))
        }
    }

    /// Returns the parts of the statement that selects rows of an entity.
    func selection(
        of entity: CompiledEntity, where predicate: RowPredicate, orderedBy order: RowOrder, limit: Int?,
        offset: Int = 0
    ) throws -> (select: RecordSQL, rest: String, arguments: StatementArguments) {
        let select = RecordSQL(entity, layout)
        let (condition, arguments) = try condition(predicate, select)
        let rest =
            "FROM \(select.from)\(condition) ORDER BY \(try select.order(order))" + RecordSQL.window(limit, offset)
        return (select, rest, arguments)
    }
}

// MARK: - Export members

extension DataStack {
    /// Exports the rows of an entity as the text of one JSON object, `{"AD": {…}, "AE": {…}}`.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if a row has no object key, or if two rows have the same object key;
    ///   `unknownAttribute` if the entity lacks the attribute of the keys.
    func exportMembers(
        _ name: String, namedBy names: KeyedBy, where predicate: RowPredicate, orderedBy order: RowOrder,
        limit: Int?, offset: Int, options: ExportOptions, in db: Database, write: (Data) throws -> Void
    ) throws {
        let entity = try model.compiled.entity(named: name)
        guard let slot = names.slot(in: entity, of: model.compiled) else {
            throw SyncError(
                .unknownAttribute,
                "'keyedBy' requires an attribute of \(name), or its primary key if that is one attribute", entity: name)
        }
        let (select, rest, arguments) = try selection(
            of: entity, where: predicate, orderedBy: order, limit: limit, offset: offset)
        let reader = try ExportReader(db, layout)
        var exporter = RecordExporter(model: model, options: options, source: reader)
        var text = ExportText(.json, isObject: true)
        // Primary keys are unique. Duplicates of another attribute must be detected here.
        var seen: Set<PrimaryKeyValue> = []
        try reader.forEachRow(select, rest, arguments) { row in
            let member = try exporter.member(row, of: entity, namedBy: slot)
            if slot != entity.keySlot, !seen.insert(.text(member.key)).inserted {
                throw SyncError(
                    .typeMismatch, "several rows have the same object key; set 'keyedBy' to another attribute",
                    entity: name)
            }
            text.append(member)
            if text.count >= Self.bufferSize { try write(text.removeAll()) }
        }
        text.end()
        try write(text.removeAll())
    }
}

// MARK: - Export text

extension DataStack {
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
            try self.writeExport(
                entity, as: form, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options,
                in: db,
                write: write)
        }
    }

    /// Exports the rows of an entity as JSON text in buffers, in one read transaction. Cancelling the task ends the
    /// export.
    package func writeExport(
        _ entity: String, as form: PayloadFormat = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        try await reading { db in
            try self.writeExport(
                entity, as: form, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options,
                in: db,
                write: write)
        }
    }

    /// Exports the rows of an entity as JSON text in buffers, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    package func writeExport(
        _ entity: String, as form: PayloadFormat = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), in db: Database, write: (Data) throws -> Void
    ) throws {
        guard form == .json || form == .ndjson else {
            throw SyncError(.invalidOption, "the format \(form.rawValue) is not supported for export")
        }
        if let names = options.keyedBy {
            guard form == .json else {
                throw SyncError(
                    .invalidOption, "NDJSON cannot export keyed objects; remove 'keyedBy' or use the JSON format")
            }
            return try exportMembers(
                entity, namedBy: names, where: predicate, orderedBy: order, limit: limit, offset: offset,
                options: options, in: db, write: write)
        }
        var text = ExportText(form)
        try exportEach(
            entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db
        ) { record in
            text.append(record)
            if text.count >= Self.bufferSize { try write(text.removeAll()) }
        }
        text.end()
        try write(text.removeAll())
    }

    /// The size of a buffer in bytes. Larger buffers are not faster.
    static let bufferSize = 65_536
}

// MARK: - Export where

extension DataStack {
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

    /// Exports the rows of an entity that match a condition, given as a string.
    package func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try await export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }
}
