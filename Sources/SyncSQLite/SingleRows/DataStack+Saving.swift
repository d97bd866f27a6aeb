public import GRDB
public import SyncCore
import SyncStore

// Each operation is one transaction, and `in: db` runs it inside the caller's transaction.
extension DataStack {
    /// Inserts or updates the row of a value, with the related rows that it has loaded.
    ///
    /// ```swift
    /// try await stack.save(Project(id: 7, name: "Sync"))
    /// ```
    /// The value replaces all columns of its row. A loaded to-many relationship replaces the links of the row.
    /// Relationships that are not loaded, and all other rows of the entity, stay unchanged. A value whose primary key is
    /// nil becomes a new row with a temporary key.
    ///
    /// - Returns: The changes. The result has no changes if the stored row is equal.
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be stored, `inconsistentRecords` for two values
    ///   with one key and different contents, `entityMismatch`, `primaryKeyMissing` if a temporary key cannot be
    ///   generated, `keylessEntity`. Nothing is written then.
    @discardableResult
    public func save<Value: EntityRecord>(_ value: Value) async throws -> SyncResult { try await save([value]) }

    /// Inserts or updates the rows of values, with the related rows that they have loaded, in one transaction.
    @discardableResult
    public func save<Value: EntityRecord>(_ values: [Value]) async throws -> SyncResult {
        try await publishing { stack, db in try stack.save(values, in: db, isOwn: true) }
    }

    /// Inserts or updates the rows of values, with the related rows that they have loaded, inside ``write(_:)-(_)``.
    @discardableResult
    public func save<Value: EntityRecord>(_ values: [Value], in db: Database) throws -> SyncResult {
        try save(values, in: db, isOwn: false)
    }

    /// Inserts the row of a value, and saves the related rows that it has loaded.
    ///
    /// - Throws: ``SyncError`` `duplicateKey` if a row with the primary key is stored, and the errors of
    ///   ``save(_:)-(Value)``. Nothing is written then.
    @discardableResult
    public func insert<Value: EntityRecord>(_ value: Value) async throws -> SyncResult { try await insert([value]) }

    /// Inserts the rows of values, and saves the related rows that they have loaded, in one transaction.
    @discardableResult
    public func insert<Value: EntityRecord>(_ values: [Value]) async throws -> SyncResult {
        try await publishing { stack, db in try stack.insert(values, in: db, isOwn: true) }
    }

    /// Inserts the rows of values, and saves the related rows that they have loaded, inside ``write(_:)-(_)``.
    @discardableResult
    public func insert<Value: EntityRecord>(_ values: [Value], in db: Database) throws -> SyncResult {
        try insert(values, in: db, isOwn: false)
    }

    /// Deletes the row with the primary key of a value, and applies the delete rules of the model. If no row has the
    /// key, nothing changes.
    ///
    /// - Returns: The deleted rows, and the rows that lost a link.
    /// - Throws: ``SyncError`` `deletionDenied`, `keylessEntity`, `primaryKeyMissing` for a value whose primary key is
    ///   nil. Nothing is written then.
    @discardableResult
    public func delete<Value: EntityRecord>(_ value: Value) async throws -> SyncResult { try await delete([value]) }

    /// Deletes the rows with the primary keys of values, in one transaction.
    @discardableResult
    public func delete<Value: EntityRecord>(_ values: [Value]) async throws -> SyncResult {
        try await publishing { stack, db in try stack.delete(values, in: db, isOwn: true) }
    }

    /// Deletes the rows with the primary keys of values, inside ``write(_:)-(_)``.
    @discardableResult
    public func delete<Value: EntityRecord>(_ values: [Value], in db: Database) throws -> SyncResult {
        try delete(values, in: db, isOwn: false)
    }

    // MARK: - Steps

    /// Writes in one transaction, and publishes the result.
    func publishing(
        _ write: @escaping @Sendable (DataStack, Database) throws -> SyncResult
    ) async throws -> SyncResult {
        let result = try await writing { db in try write(self, db) }
        feed.publish(result)
        return result
    }

    /// - Parameter isOwn: Whether the transaction belongs to the stack.
    private func save<Value: EntityRecord>(_ values: [Value], in db: Database, isOwn: Bool) throws -> SyncResult {
        let entity = try model.compiled.entity(named: Value.entityName)
        guard !values.isEmpty else { return SyncResult(entity: entity.name) }
        let payload = try payload(of: values) { entity in
            guard let slot = entity.keySlot else { return .null }
            return ColumnValue.storedValue(
                try self.makeTemporaryKey(for: entity, in: db),
                as: self.model.compiled[entity.table].attributes[slot].type)
        }
        var options = SyncOptions(payloadKind: .delta, isStrict: true, deletionLimit: nil)
        options.types = [Value.self]
        let builder = try PayloadGraphBuilder(
            inEntity: entity.name, of: model, parent: nil, operations: .all, options: options)
        let mapped = try builder.map(payload)
        return try SQLiteWriter(stack: self, db: db, isOwn: isOwn).transaction(SyncRequest(options: options)) {
            session in
            let result = try session.apply(mapped)
            guard result.root.inserted + result.root.matched == values.count - result.duplicateRecordCount else {
                throw rejection(of: entity, result)
            }
            return result
        }
    }

    private func insert<Value: EntityRecord>(_ values: [Value], in db: Database, isOwn: Bool) throws -> SyncResult {
        let entity = try model.compiled.entity(named: Value.entityName)
        for value in values {
            if let key = model.compiled.rowKey(value.syncID, of: entity) { try checkIsFree(key, of: entity, in: db) }
        }
        return try save(values, in: db, isOwn: isOwn)
    }

    private func delete<Value: EntityRecord>(_ values: [Value], in db: Database, isOwn: Bool) throws -> SyncResult {
        let entity = try model.compiled.entity(named: Value.entityName)
        var result = SyncResult(entity: Value.entityName)
        try db.inSavepoint {
            for value in values {
                guard value.syncID != .null else {
                    throw SyncError(
                        entity.isKeyed ? .primaryKeyMissing : .keylessEntity,
                        "a value without a primary key identifies no row", entity: entity.name)
                }
                result.merge(try delete(entity.name, id: value.syncID, in: db, isOwn: isOwn))
            }
            return .commit
        }
        return result
    }
}
