public import Foundation
public import GRDB
public import SyncCore

extension DataStack {
    /// Exports the rows of an entity as JSON, with the keys from which a sync reads them.
    ///
    /// ```swift
    /// let users = try await stack.export("User", where: "age >= 18")
    /// // [{"id": 6, "first_name": "Ann", "notes": [{"id": 1, "text": "Buy milk"}]}, …]
    /// ```
    /// A nil attribute is `null`, but is omitted if its key is also the ID of a relationship. A to-one relationship
    /// without a row is omitted. Related rows are exported to any depth that a sync can read. The export skips the
    /// inverse of the relationship that led to a row, and it skips rows that enclose the current row. A list with a
    /// skipped row is omitted completely, and so is a relationship with pending references. If the rows came from a
    /// sync, a sync of an export with the default options changes nothing.
    ///
    /// - Parameter limit: The maximum number of rows to export; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidOption` for an order by
    ///   a to-many relationship, or `databaseError`.
    package func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        try reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// Exports the rows of an entity as JSON, with the keys from which a sync reads them.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        try await reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// Exports the rows of an entity as JSON, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions(), in db: Database
    ) throws -> [JSONValue] {
        var records: [JSONValue] = []
        try exportEach(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db) { record in
            records.append(record)
        }
        return records
    }
}

// MARK: - Export each

extension DataStack {
    /// Exports the rows of an entity as JSON one at a time, in one read transaction. Only one record is in memory at a
    /// time.
    ///
    /// ``export(_:where:orderedBy:limit:options:)-(_,RowPredicate,_,_,_)`` documents the contents of a record.
    ///
    /// - Parameters:
    ///   - offset: The number of rows to skip.
    ///   - body: Called with each record in order. An error of `body` ends the export and is rethrown.
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

    /// Exports the rows of an entity as JSON one at a time, in one read transaction. Cancelling the task ends the
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

    /// Exports the rows of an entity as JSON one at a time, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
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
        var seen: Set<String> = []
        try reader.forEachRow(select, rest, arguments) { row in
            let member = try exporter.member(row, of: entity, namedBy: slot)
            if slot != entity.keySlot, !seen.insert(member.key).inserted {
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
    /// Exports the rows of an entity as JSON text in buffers, in one read transaction. Use it for files that may not
    /// fit in memory.
    ///
    /// ```swift
    /// try stack.writeExport("User", as: .ndjson) { try file.write(contentsOf: $0) }
    /// ```
    /// - Parameters:
    ///   - form: `.json` for an array of records (with `keyedBy`, an object), or `.ndjson` for one record on each line.
    ///     The encoding is UTF-8.
    ///   - offset: The number of rows to skip.
    ///   - write: Called with each buffer, of at least 64 KB except the last. An error of `write` ends the export and
    ///     is rethrown.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `databaseError`.
    ///   `invalidOption` if the format or an option does not allow an export. `typeMismatch` if `keyedBy` gives a row
    ///   no unique object key.
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

    /// Exports the rows of an entity as JSON text in buffers, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
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
    /// Exports the rows of an entity that match a condition in text form. For values from variables, use
    /// ``RowPredicate/where(_:_:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column, and the errors of the method that takes a
    ///   ``RowPredicate``.
    package func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }

    /// Exports the rows of an entity that match a condition in text form.
    package func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try await export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }
}
