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

    /// Fetches the rows of an entity and its subentities.
    ///
    /// ```swift
    /// let adults = try await stack.fetch("User", where: "age >= 18", orderedBy: "firstName", limit: 10)
    /// ```
    /// - Parameter limit: The maximum number of rows to fetch; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `invalidOption` for an order by a to-many relationship.
    public func fetch(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) async throws -> [SyncRow] {
        try await reading { db in try self.fetch(entity, where: predicate, orderedBy: order, limit: limit, in: db) }
    }

    /// Fetches the row with a key; nil if no row has the key.
    package func fetch(_ entity: String, id: JSONValue) throws -> SyncRow? {
        try reading { db in try self.fetch(entity, id: id, in: db) }
    }

    /// Fetches the row with a key. Returns nil if no row has the key.
    ///
    /// A sync engine can replace the temporary key of a row with a remote ID. Afterwards, both keys identify the row.
    ///
    /// - Parameter id: The primary key, which the call converts to the type of the key attribute. A composite key is an
    ///   array of its parts in the order of the model.
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity` or `databaseError`.
    public func fetch(_ entity: String, id: JSONValue) async throws -> SyncRow? {
        try await reading { db in try self.fetch(entity, id: id, in: db) }
    }

    /// Counts the rows of an entity and its subentities.
    package func count(_ entity: String, where predicate: RowPredicate = .all) throws -> Int {
        try reading { db in try self.count(entity, where: predicate, in: db) }
    }

    /// Counts the rows of an entity and its subentities.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `invalidPredicate` or `databaseError`.
    public func count(_ entity: String, where predicate: RowPredicate = .all) async throws -> Int {
        try await reading { db in try self.count(entity, where: predicate, in: db) }
    }

    // MARK: In one read

    /// Checks that the tables match the model, in a call inside the caller's transaction.
    ///
    /// - Throws: ``SyncError`` `modelMismatch`, `incompatibleTables`; `cannotOpenStore` if the database is not a store.
    func checkTables(_ db: Database) throws { try watch.check(db, isOwn: false) }

    /// Fetches the rows of an entity, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``fetch(_:where:orderedBy:limit:)-(_,_,_,_)``. Errors of SQLite are thrown as GRDB's
    ///   `DatabaseError`.
    public func fetch(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, in db: Database
    ) throws -> [SyncRow] {
        try checkTables(db)
        let (select, rest, arguments) = try selection(
            of: model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit)
        return try select.fetch(db, "SELECT \(select.columns) \(rest)", arguments)
    }

    /// Fetches the row with a key, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``. Returns nil if no row has the key.
    ///
    /// - Throws: The errors of ``fetch(_:id:)``. Errors of SQLite are thrown as GRDB's `DatabaseError`.
    public func fetch(_ entity: String, id: JSONValue, in db: Database) throws -> SyncRow? {
        try checkTables(db)
        let entity = try model.compiled.keyedEntity(named: entity)
        return try model.compiled.rowKey(id, of: entity).flatMap { try fetch(entity, key: $0, in: db) }
    }

    /// Fetches the row of an entity with a key; nil if no row has the key.
    func fetch(_ entity: CompiledEntity, key: RowKey, in db: Database) throws -> SyncRow? {
        guard let (condition, arguments) = try condition(key, of: entity, in: db) else { return nil }
        let select = RecordSQL(entity, layout)
        return try select.fetch(
            db, "SELECT \(select.columns) FROM \(select.from) WHERE \(condition)", arguments
        ).first
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
    /// - Throws: The errors of ``count(_:where:)-(String,_)``. Errors of SQLite are thrown as GRDB's `DatabaseError`.
    public func count(_ entity: String, where predicate: RowPredicate = .all, in db: Database) throws -> Int {
        try checkTables(db)
        let select = RecordSQL(try model.compiled.entity(named: entity), layout)
        let (condition, arguments) = try condition(predicate, select)
        let sql = "SELECT count(*) FROM \(select.from)\(condition)"
        SQLFunctionInstaller.install(in: db)
        return try Int.fetchOne(db, sql: sql, arguments: arguments) ?? 0
    }

    func condition(_ predicate: RowPredicate, _ select: RecordSQL) throws -> (String, StatementArguments) {
        let (sql, values) = try conditionValues(predicate, select)
        return (sql, StatementArguments(values))
    }

    func conditionValues(_ predicate: RowPredicate, _ select: RecordSQL) throws -> (String, [DatabaseValue]) {
        let filter =
            predicate == .all
            ? nil : try PredicateSQL(predicate, on: select.entity, layout: layout, alias: RecordSQL.alias)
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

extension CompiledModel {
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    func keyedEntity(named name: String) throws -> CompiledEntity {
        let entity = try entity(named: name)
        guard entity.isKeyed else {
            throw SyncError(
                .keylessEntity, "'\(entity.name)' has no primary key; its rows cannot be fetched by key",
                entity: entity.name)
        }
        return entity
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

    /// Fetches the rows of an entity that match a condition, given as a string.
    package func fetch(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil
    ) async throws -> [SyncRow] {
        try await fetch(entity, where: try RowPredicate(parsing: text), orderedBy: order, limit: limit)
    }

    /// Counts the rows of an entity that match a condition, given as a string.
    package func count(_ entity: String, where text: String) throws -> Int {
        try count(entity, where: try RowPredicate(parsing: text))
    }

    /// Counts the rows of an entity that match a condition, given as a string.
    package func count(_ entity: String, where text: String) async throws -> Int {
        try await count(entity, where: try RowPredicate(parsing: text))
    }
}

// MARK: - Related rows

extension DataStack {
    /// Fetches the rows that a relationship links to a row.
    package func fetchRelated(_ relationship: String, of row: SyncRow) throws -> [SyncRow] {
        try reading { db in try self.fetchRelated(relationship, of: row, in: db) }
    }

    /// Fetches the rows that a relationship links to a row.
    ///
    /// The rows of an ordered relationship have the order of the relationship. Other rows are ordered by key. For a
    /// to-one relationship, the array contains at most one row.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` or `databaseError`.
    public func fetchRelated(_ relationship: String, of row: SyncRow) async throws -> [SyncRow] {
        try await reading { db in try self.fetchRelated(relationship, of: row, in: db) }
    }

    /// Fetches the rows that a relationship links to a row, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``fetchRelated(_:of:)``. Errors of SQLite are thrown as GRDB's `DatabaseError`.
    public func fetchRelated(_ relationship: String, of row: SyncRow, in db: Database) throws -> [SyncRow] {
        try checkTables(db)
        guard let relationship = row.type.relationship(named: relationship) else {
            throw DatabaseErrorMapper.unknownRelationship(relationship, of: row.type)
        }
        let targets = TargetSQL(relationship, of: row.type, layout)
        let sql = "SELECT \(targets.select.columns) \(try targets.rest)"
        return try targets.select.fetch(db, sql, [row.rowKey.databaseValue])
    }
}
