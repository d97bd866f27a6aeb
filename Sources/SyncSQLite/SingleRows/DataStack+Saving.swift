public import GRDB
public import SyncCore
import SyncStore

// Each operation is one transaction, and `in: db` runs it inside the caller's transaction.
extension DataStack {
    /// Inserts or updates the row of a value and the loaded related rows of the value.
    ///
    /// ```swift
    /// try await stack.save(Project(id: 7, name: "Sync"))
    /// ```
    /// If the stack fetched or saved the value before, the call writes the attributes and links that the app changed
    /// since. What others changed meanwhile stays. If the value is new, or if its row was deleted, the call writes all
    /// attributes. The same applies to each loaded related row. A save inside a transaction of the caller may be rolled
    /// back, so the next save writes what differs from the contents before or after it.
    ///
    /// If an integer or string primary key is nil, the call inserts a row with a temporary key. If a UUID primary key is
    /// nil, the call inserts a row with a random UUID. A later save of the same value, or of an edited copy, updates that
    /// row, if the type records its edits (see ``FetchedRow``). If an engine has replaced the temporary key of a value,
    /// the call updates the row with the current key.
    ///
    /// The rows of a loaded to-many relationship are linked. Rows that the relationship omits keep their links and their
    /// places, and no row is deleted. Rows that are added to a list that is not loaded come last. To replace the links of
    /// a to-many relationship, sync the value with `Sync.changes(_:stack:)`. To delete a row, call
    /// ``delete(_:)-(Value)``.
    ///
    /// If a to-one relationship is not loaded, the property with the key of the related row, such as `companyID`,
    /// specifies the link. If this property contains a ``RowNumber``, the link stays unchanged.
    ///
    /// - Returns: The changes; an empty result if the stored rows already have the same values.
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be stored. `inconsistentRecords` for two values
    ///   with the same key and different contents. `entityMismatch` if a row of another entity has the key.
    ///   `primaryKeyMissing` for a missing key that the call cannot generate. `deletionDenied` if a delete rule
    ///   protects a row. `unknownAttribute` or `unknownRelationship` for a property that the model does not have.
    ///   `unknownEntity`, `abstractEntity`, `keylessEntity` or `databaseError`. If the call throws an
    ///   error, it writes nothing.
    @discardableResult
    public func save<Value: EntityRecord>(_ value: Value) async throws -> SyncResult { try await save([value]) }

    /// Inserts or updates the rows of the given values and the loaded related rows, in one transaction.
    ///
    /// - Throws: The errors of ``save(_:)-(Value)``.
    @discardableResult
    public func save<Value: EntityRecord>(_ values: [Value]) async throws -> SyncResult {
        try await publishing { stack, db in try stack.save(values, in: db, isOwn: true) }
    }

    /// Inserts or updates the rows of the given values and the loaded related rows, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``save(_:)-(Value)``. Errors of SQLite may be thrown as GRDB's `DatabaseError`.
    @discardableResult
    public func save<Value: EntityRecord>(_ values: [Value], in db: Database) throws -> SyncResult {
        try checkTables(db)
        return try save(values, in: db, isOwn: false)
    }

    /// Inserts or updates the row of the given value and its loaded related rows, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``save(_:)-(Value)``. Errors of SQLite may be thrown as GRDB's `DatabaseError`.
    @discardableResult
    public func save<Value: EntityRecord>(_ value: Value, in db: Database) throws -> SyncResult {
        try save([value], in: db)
    }

    /// Changes the row with the given key. The call reads the row as a value, passes the value to `change`, and saves
    /// the value, in one transaction. The call writes only what `change` changes.
    ///
    /// ```swift
    /// try await stack.update(Project.self, id: 7) { $0.name = "Sync" }
    /// try await stack.update(Project.self, id: 7, including: \.tags) { $0.tags.removeFirst() }
    /// ```
    /// If `change` removes a row from a loaded list, the row is unlinked, or deleted in a one-to-many relationship. Rows
    /// that `change` adds to a list that is not loaded are added at its end.
    ///
    /// - Parameters:
    ///   - id: The primary key, which may be a temporary key. A composite key is a ``JSONValue`` array of its parts in
    ///     the order of the model.
    ///   - relationships: The relationships whose rows are loaded.
    ///   - change: A function that changes properties. It must not change the primary key.
    /// - Returns: The changes; nil if no row has the key.
    /// - Throws: The errors of ``fetch(_:id:including:)`` and ``save(_:)-(Value)``, and the errors of `change`.
    ///   ``SyncError`` `invalidOption` if `change` changes the primary key, or sets a list that is not loaded to an
    ///   empty list although rows are stored in it. If the call throws an error, it writes nothing.
    @discardableResult
    public func update<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...,
        change: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> SyncResult? {
        let rows = try TypedRows(type, self, relationships)
        let result = try await writing { db in try self.update(rows, id: id, in: db, isOwn: true, change) }
        if let result { feed.publish(result) }
        return result
    }

    /// Changes the row with the given key, inside ``write(_:)-eoq9``.
    ///
    /// - Returns: The changes; nil if no row has the key.
    /// - Throws: The errors of ``update(_:id:including:change:)``. Errors of SQLite may be thrown as GRDB's
    ///   `DatabaseError`.
    @discardableResult
    public func update<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...,
        in db: Database, change: (inout Value) throws -> Void
    ) throws -> SyncResult? {
        try checkTables(db)
        return try update(TypedRows(type, self, relationships), id: id, in: db, isOwn: false, change)
    }

    /// Inserts the row of a value, and saves the loaded related rows of the value.
    ///
    /// - Returns: The changes.
    /// - Throws: ``SyncError`` `duplicateKey` if a row with the primary key is stored, and the errors of
    ///   ``save(_:)-(Value)``. If the call throws an error, it writes nothing.
    @discardableResult
    public func insert<Value: EntityRecord>(_ value: Value) async throws -> SyncResult { try await insert([value]) }

    /// Inserts the rows of the given values, and saves the loaded related rows, in one transaction.
    ///
    /// - Throws: ``SyncError`` `duplicateKey` if a row with one of the primary keys is stored, and the errors of
    ///   ``save(_:)-(Value)``. If the call throws an error, it writes nothing.
    @discardableResult
    public func insert<Value: EntityRecord>(_ values: [Value]) async throws -> SyncResult {
        try await publishing { stack, db in try stack.insert(values, in: db, isOwn: true) }
    }

    /// Inserts the rows of the given values, and saves the loaded related rows, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: ``SyncError`` `duplicateKey` if a row with one of the primary keys is stored, and the errors of
    ///   ``save(_:)-(Value)``. Errors of SQLite may be thrown as GRDB's `DatabaseError`.
    @discardableResult
    public func insert<Value: EntityRecord>(_ values: [Value], in db: Database) throws -> SyncResult {
        try checkTables(db)
        return try insert(values, in: db, isOwn: false)
    }

    /// Inserts the row of the given value, and saves its loaded related rows, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``insert(_:)-(Value)``. Errors of SQLite may be thrown as GRDB's `DatabaseError`.
    @discardableResult
    public func insert<Value: EntityRecord>(_ value: Value, in db: Database) throws -> SyncResult {
        try insert([value], in: db)
    }

    /// Deletes the row with the primary key of a value, and applies the delete rules of the model. If no row has the
    /// key, nothing changes.
    ///
    /// - Returns: The changes, which are the deleted rows and the rows that lost a link.
    /// - Throws: ``SyncError`` `deletionDenied` if the delete rule `deny` protects the row. `primaryKeyMissing` for a
    ///   value whose primary key is nil. `unknownEntity`, `keylessEntity` or `databaseError`. If the call throws an
    ///   error, it writes nothing.
    @discardableResult
    public func delete<Value: EntityRecord>(_ value: Value) async throws -> SyncResult { try await delete([value]) }

    /// Deletes the rows with the primary keys of the given values, in one transaction, and applies the delete rules of
    /// the model.
    ///
    /// - Throws: The errors of ``delete(_:)-(Value)``.
    @discardableResult
    public func delete<Value: EntityRecord>(_ values: [Value]) async throws -> SyncResult {
        try await publishing { stack, db in try stack.delete(values, in: db, isOwn: true) }
    }

    /// Deletes the rows with the primary keys of the given values, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``delete(_:)-(Value)``. Errors of SQLite may be thrown as GRDB's `DatabaseError`.
    @discardableResult
    public func delete<Value: EntityRecord>(_ values: [Value], in db: Database) throws -> SyncResult {
        try delete(values, in: db, isOwn: false)
    }

    /// Deletes the row with the primary key of the given value, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``delete(_:)-(Value)``. Errors of SQLite may be thrown as GRDB's `DatabaseError`.
    @discardableResult
    public func delete<Value: EntityRecord>(_ value: Value, in db: Database) throws -> SyncResult {
        try delete([value], in: db)
    }

    // MARK: - Steps

    /// Writes in one transaction, and publishes the result.
    package func publishing(
        _ write: @escaping @Sendable (DataStack, Database) throws -> SyncResult
    ) async throws -> SyncResult {
        let result = try await writing { db in try write(self, db) }
        feed.publish(result)
        return result
    }

    /// - Parameters:
    ///   - isOwn: Whether the transaction belongs to the stack.
    ///   - replacesLists: Whether rows that were removed from a list lose their link.
    ///   - areNew: Whether the values are new rows, also if a save generated keys for them before.
    private func save<Value: EntityRecord>(
        _ values: [Value], in db: Database, isOwn: Bool, replacesLists: Bool = false, areNew: Bool = false
    ) throws -> SyncResult {
        let entity = try model.compiled.entity(named: Value.entityName)
        guard !values.isEmpty else { return SyncResult(entity: entity.name) }
        let payload = try payload(of: values, in: db, replacesLists: replacesLists, areNew: areNew)
        var options = payload.options(SyncOptions(payloadKind: .delta, isStrict: true, deletionLimit: nil))
        options.types = payload.types
        let builder = try PayloadGraphBuilder(
            inEntity: entity.name, of: model, parent: nil, operations: replacesLists ? .all : .allButDelete,
            options: options)
        let mapped = try builder.map(payload.json)
        let writer = SQLiteWriter(stack: self, db: db, isOwn: isOwn)
        var result = try writer.transaction(SyncRequest(options: options)) { session in
            let result = try session.apply(mapped)
            let storedCount = result.root.inserted + result.root.matched
            guard storedCount == payload.recordCount - result.duplicateRecordCount else {
                throw result.rejection(of: entity)
            }
            return result
        }
        result.entity = entity.name
        try recordSave(of: payload, isCertain: isOwn, in: db)
        return result
    }

    private func update<Value: EntityRecord>(
        _ rows: TypedRows<Value>, id: some AttributeValue, in db: Database, isOwn: Bool,
        _ change: (inout Value) throws -> Void
    ) throws -> SyncResult? {
        guard var value = try rows.fetch(id: id, db)?.element else { return nil }
        let key = value.syncID
        try change(&value)
        guard value.syncID == key else {
            throw SyncError(
                .invalidOption, "the change sets another primary key; to change a key, call Sync.update",
                entity: Value.entityName)
        }
        return try save([value], in: db, isOwn: isOwn, replacesLists: true)
    }

    private func insert<Value: EntityRecord>(_ values: [Value], in db: Database, isOwn: Bool) throws -> SyncResult {
        let entity = try model.compiled.entity(named: Value.entityName)
        for value in values {
            guard let key = model.compiled.rowKey(value.syncID, of: entity) else { continue }
            try checkIsFree(try layout.laterKey(of: key, entity, in: db) ?? key, of: entity, in: db)
        }
        return try save(values, in: db, isOwn: isOwn, areNew: true)
    }

    private func delete<Value: EntityRecord>(_ values: [Value], in db: Database, isOwn: Bool) throws -> SyncResult {
        let entity = try model.compiled.entity(named: Value.entityName)
        return try db.savepoint {
            var result = SyncResult(entity: Value.entityName)
            for value in values {
                let key = value.key(in: identity)
                guard key != .null else {
                    throw SyncError(
                        entity.isKeyed ? .primaryKeyMissing : .keylessEntity,
                        "a value without a primary key identifies no row", entity: entity.name)
                }
                result.merge(try delete(entity.name, id: key, in: db, isOwn: isOwn))
            }
            return result
        }
    }
}
