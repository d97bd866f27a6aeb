public import Foundation
public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Fetches the rows of an entity and its subentities.
    package func fetch(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) throws -> [SyncRow] {
        try reading { db in try self.fetch(entity, where: predicate, orderedBy: order, limit: limit, in: db) }
    }

    /// Fetches the row with a key; nil if no row has the key.
    package func fetch(_ entity: String, id: JSONValue) throws -> SyncRow? {
        try reading { db in try self.fetch(entity, id: id, in: db) }
    }

    /// Counts the rows of an entity and its subentities.
    package func count(_ entity: String, where predicate: RowPredicate = .all) throws -> Int {
        try reading { db in try self.count(entity, where: predicate, in: db) }
    }

    // MARK: In one read

    /// Checks that the tables match the model, in a call inside the caller's transaction.
    ///
    /// - Throws: ``SyncError`` `modelMismatch`, `incompatibleTables`; `cannotOpenStore` if the database is not a store.
    func checkTables(_ db: Database) throws { try watch.check(db, isOwn: false) }

    /// Fetches the rows of an entity, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``SyncStack/fetch(_:where:orderedBy:limit:)``. Errors of SQLite are thrown as GRDB's
    ///   `DatabaseError`.
    public func fetch(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, in db: Database
    ) throws -> [SyncRow] {
        try checkTables(db)
        let query = try RowQuery(
            model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit)
        return try SQLiteReader(db, self).select(query).next(.max)
    }

    /// Fetches the row with a key, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``. Returns nil if no row has the key.
    ///
    /// - Throws: The errors of ``SyncStack/fetch(_:id:)``. Errors of SQLite are thrown as GRDB's `DatabaseError`.
    public func fetch(_ entity: String, id: JSONValue, in db: Database) throws -> SyncRow? {
        try checkTables(db)
        return try SQLiteReader(db, self).row(entity, id: id, in: model.compiled)
    }

    /// Fetches the row of an entity with a key; nil if no row has the key.
    func fetch(_ entity: CompiledEntity, key: RowKey, in db: Database) throws -> SyncRow? {
        guard let (condition, arguments) = try condition(key, of: entity, in: db) else { return nil }
        let select = RecordSQL(entity, layout)
        return try select.fetch(
            db, "SELECT \(select.columns) FROM \(select.from) WHERE \(condition)", arguments
        ).first
    }

    /// Returns whether a stored row has a key of the entity, or had it as its temporary key.
    func isStored(_ key: RowKey, of entity: CompiledEntity, in db: Database) throws -> Bool {
        let current = try layout.laterKey(of: key, entity, in: db) ?? key
        guard let columns = KeyColumns(entity, layout), let values = columns.bound(current) else { return false }
        let alias = RecordSQL.alias
        let condition = columns.condition(of: alias, equals: values.map(\.sql))
        return try db.finds(
            "SELECT 1 FROM \(columns.table.name.quoted) AS \(alias.quoted) WHERE \(condition)",
            list: values.map(\.value))
    }

    /// Returns the condition that selects the row of the entity with a key; nil if no row can have the key.
    func condition(_ key: RowKey, of entity: CompiledEntity) -> (String, StatementArguments)? {
        guard let columns = KeyColumns(entity, layout), let values = columns.bound(key) else { return nil }
        let conditions = [
            columns.condition(of: RecordSQL.alias, equals: values.map(\.sql)), RecordSQL(entity, layout).condition,
        ]
        return (conditions.compactMap(\.self).joined(separator: " AND "), StatementArguments(values.map(\.value)))
    }

    /// Counts the rows of an entity, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``SyncStack/count(_:where:)``. Errors of SQLite are thrown as GRDB's `DatabaseError`.
    public func count(_ entity: String, where predicate: RowPredicate = .all, in db: Database) throws -> Int {
        try checkTables(db)
        return try SQLiteReader(db, self).count(of: model.compiled.entity(named: entity), where: predicate)
    }

    /// Returns the parts of the statement that selects rows of an entity.
    func selection(
        of entity: CompiledEntity, where predicate: RowPredicate, orderedBy order: RowOrder, limit: Int?,
        offset: Int = 0, in db: Database
    ) throws -> (select: RecordSQL, rest: String, arguments: StatementArguments) {
        let select = RecordSQL(entity, layout)
        let (condition, arguments) = try condition(predicate, select, in: db)
        let rest =
            "FROM \(select.from)\(condition) ORDER BY \(try select.order(order))" + select.window(limit, offset)
        return (select, rest, arguments)
    }

    func condition(
        _ predicate: RowPredicate, _ select: RecordSQL, in db: Database
    ) throws -> (String, StatementArguments) {
        let (sql, values) = try conditionValues(predicate, select, in: db)
        return (sql, StatementArguments(values))
    }

    func conditionValues(
        _ predicate: RowPredicate, _ select: RecordSQL, in db: Database? = nil
    ) throws -> (String, [DatabaseValue]) {
        let filter =
            predicate == .all
            ? nil : try PredicateSQL(predicate, on: select.entity, layout: layout, alias: RecordSQL.alias, in: db)
        let conditions = [select.condition, filter?.sql].compactMap(\.self)
        let sql = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        return (sql, filter?.databaseValues ?? [])
    }

    // MARK: Errors

    func reading<T>(_ body: (Database) throws -> T) throws -> T {
        try unchanged {
            try DatabaseErrorMapper.mapped(.databaseError, "cannot read the store") {
                try database.read { db in
                    SQLFunctionInstaller.install(in: db)
                    try watch.check(db)
                    return try body(db)
                }
            }
        }
    }

    func reading<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let watch = watch
        return try await unchanged {
            try await DatabaseErrorMapper.mapped(.databaseError, "cannot read the store") {
                try await database.read { db in
                    SQLFunctionInstaller.install(in: db)
                    try watch.check(db)
                    return try body(db)
                }
            }
        }
    }

    /// Runs a read and returns its result. Throws `databaseBusy` if the store is read without locks and its files have
    /// changed.
    func unchanged<T>(_ body: () throws -> T) throws -> T {
        guard let unlocked else { return try body() }
        return try unlocked.reading(body)
    }

    func unchanged<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        do {
            let result = try await body()
            try unlocked?.check()
            return result
        } catch {
            try unlocked?.check()
            throw error
        }
    }
}

// MARK: - Fetch text

extension DataStack {
    /// Fetches the rows of an entity that match a condition, given as a string. For values from variables, use
    /// ``RowPredicate/where(_:_:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with the line and column of the problem, and the errors of the method
    ///   with a ``RowPredicate``.
    package func fetch(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil
    ) throws -> [SyncRow] {
        try fetch(entity, where: try RowPredicate(parsing: text), orderedBy: order, limit: limit)
    }

    /// Counts the rows of an entity that match a condition, given as a string.
    package func count(_ entity: String, where text: String) throws -> Int {
        try count(entity, where: try RowPredicate(parsing: text))
    }
}

// MARK: - Related rows

extension DataStack {
    /// Fetches the rows that a relationship links to a row.
    package func fetchRelated(_ relationship: String, of row: SyncRow) throws -> [SyncRow] {
        try reading { db in try self.fetchRelated(relationship, of: row, in: db) }
    }

    /// Fetches the rows that a relationship links to a row, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``SyncStack/fetchRelated(_:of:)``. Errors of SQLite are thrown as GRDB's
    ///   `DatabaseError`.
    public func fetchRelated(_ relationship: String, of row: SyncRow, in db: Database) throws -> [SyncRow] {
        try checkTables(db)
        return try SQLiteReader(db, self).rows(relationship, of: row)
    }
}

// MARK: - Export

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
    ///   `invalidOption` for another format, for `keyedBy` with `.ndjson`, for an order by a to-many relationship, and
    ///   for an invalid pattern of dates.
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
