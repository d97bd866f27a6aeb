public import Foundation
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
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        try reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// The rows of an entity as JSON, under the keys a sync reads them from.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        try await reading { db in
            try self.export(entity, where: predicate, orderedBy: order, limit: limit, options: options, in: db)
        }
    }

    /// The rows of an entity as JSON, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
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
    /// Gives the rows of an entity as JSON one by one, from one read: memory is needed for one record, not for all.
    ///
    /// See ``export(_:where:orderedBy:limit:options:)-(_,RowPredicate,_,_,_)`` for what a record has.
    ///
    /// - Parameters:
    ///   - offset: How many rows are passed over before the first.
    ///   - body: Is called for each record in order. What it throws ends the export and passes through.
    public func exportEach(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(), _ body: (JSONValue) throws -> Void
    ) throws {
        try reading { db in
            try self.exportEach(
                entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db, body
            )
        }
    }

    /// Gives the rows of an entity as JSON one by one, from one read. Cancelling the task ends it.
    public func exportEach(
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

    /// Gives the rows of an entity as JSON one by one, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func exportEach(
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

    /// What is asked of the database for rows of an entity.
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
    /// Gives the rows of an entity as text of one object, `{"AD": {…}, "AE": {…}}`.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` for rows that have no name, or the same one.
    func exportMembers(
        _ name: String, namedBy names: KeyedBy, where predicate: RowPredicate, orderedBy order: RowOrder,
        limit: Int?, offset: Int, options: ExportOptions, in db: Database, write: (Data) throws -> Void
    ) throws {
        let entity = try model.compiled.entity(named: name)
        guard let slot = names.slot(in: entity, of: model.compiled) else {
            throw SyncError(.unknownAttribute, "\(name) has no such attribute to name its rows by", entity: name)
        }
        let (select, rest, arguments) = try selection(
            of: entity, where: predicate, orderedBy: order, limit: limit, offset: offset)
        let reader = try ExportReader(db, layout)
        var exporter = RecordExporter(model: model, options: options, source: reader)
        var text = ExportText(.json, isObject: true)
        // The keys of rows are unique; other values are remembered.
        var seen: Set<String> = []
        try reader.forEachRow(select, rest, arguments) { row in
            let member = try exporter.member(row, of: entity, namedBy: slot)
            if slot != entity.keySlot, !seen.insert(member.key).inserted {
                throw SyncError(
                    .valueDoesNotFit, "several rows would stand under one name: name them by another attribute",
                    entity: name)
            }
            text.append(member)
            if text.count >= Self.pieceSize { try write(text.take()) }
        }
        text.end()
        try write(text.take())
    }
}

// MARK: - Export text

extension DataStack {
    /// Gives the rows of an entity as JSON text piece by piece, from one read: for files that need not fit in memory.
    ///
    /// ```swift
    /// try await stack.exportText("User", as: .ndjson) { try file.write(contentsOf: $0) }
    /// ```
    /// - Parameters:
    ///   - form: An array of records, which is the default, or a record a line; either way UTF-8.
    ///   - offset: How many rows are passed over before the first.
    ///   - write: Takes the next piece, of some ten thousand bytes. What it throws ends the export and passes through.
    /// - Throws: What ``export(_:where:orderedBy:limit:options:)-(_,RowPredicate,_,_,_)`` throws.
    public func exportText(
        _ entity: String, as form: SyncOptions.Form = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: (Data) throws -> Void
    ) throws {
        try reading { db in
            try self.exportText(
                entity, as: form, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options,
                in: db,
                write: write)
        }
    }

    /// Gives the rows of an entity as JSON text piece by piece, from one read. Cancelling the task ends it.
    public func exportText(
        _ entity: String, as form: SyncOptions.Form = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        try await reading { db in
            try self.exportText(
                entity, as: form, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options,
                in: db,
                write: write)
        }
    }

    /// Gives the rows of an entity as JSON text piece by piece, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func exportText(
        _ entity: String, as form: SyncOptions.Form = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), in db: Database, write: (Data) throws -> Void
    ) throws {
        guard form == .json || form == .ndjson else {
            throw SyncError(.invalidOption, "rows are not exported as \(form.rawValue)")
        }
        if let names = options.keyedBy {
            guard form == .json else {
                throw SyncError(.invalidOption, "a record a line has no name to stand under")
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
            if text.count >= Self.pieceSize { try write(text.take()) }
        }
        text.end()
        try write(text.take())
    }

    /// In bytes; larger pieces are not written faster.
    static let pieceSize = 65_536
}

// MARK: - Export where

extension DataStack {
    /// The rows of an entity for which a condition given as text holds, as JSON. A value that varies goes in as an
    /// argument of ``RowPredicate/where(_:_:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column, and what the form with a predicate throws.
    public func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }

    /// The rows of an entity for which a condition given as text holds, as JSON.
    public func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try await export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }
}
