import Foundation
public import SyncCalls
public import SyncCore
public import SyncSQLite

extension SyncOptions {
    /// Returns the options with a type whose properties the values must fit.
    fileprivate func checking(_ type: any SyncEntity.Type) -> SyncOptions {
        var options = self
        options.types.append(type)
        return options
    }
}

// The calls of `Sync` for Swift types. The calls with the name of an entity document the details.
extension Sync {
    /// Inserts, updates and deletes rows so that the entity of a type matches a payload.
    ///
    /// ```swift
    /// let result = try await Sync.changes(data, as: User.self, stack: stack)
    /// print(result[User.self].inserted)
    /// ```
    /// A value that the type of its property cannot hold, such as an unknown case of an enumeration, is skipped with a
    /// diagnostic.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or an error of SQLite. The store is then unchanged.
    @discardableResult
    public nonisolated(nonsending) static func changes<Value: EntityRecord>(
        _ payload: some SyncPayloadConvertible, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await changes(
            payload, inEntity: Value.entityName, stack: stack, predicate: predicate, parent: parent,
            operations: operations, options: options.checking(Value.self))
    }

    /// Inserts, updates and deletes rows so that the entity of a type matches a payload, in the caller's transaction.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ payload: some SyncPayloadConvertible, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions(),
        in db: DataStack.Connection
    ) throws -> SyncResult {
        try changes(
            payload, inEntity: Value.entityName, stack: stack, predicate: predicate, parent: parent,
            operations: operations, options: options.checking(Value.self), in: db)
    }

    /// Inserts, updates and deletes rows so that the entity of a type matches an array of values.
    ///
    /// Related rows of the values are synced too, if they are loaded. Relationships that are not loaded stay unchanged.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be encoded, or a type with an attribute that a
    ///   sync cannot read back from JSON; and the errors of the call with a payload.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ values: [Value], stack: DataStack, predicate: RowPredicate? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await changes(
            stack.payload(of: values), inEntity: Value.entityName, stack: stack, predicate: predicate,
            operations: operations, options: options)
    }

    /// Computes what ``changes(_:as:stack:predicate:parent:operations:options:)`` would change, and writes nothing.
    package nonisolated(nonsending) static func plan<Value: EntityRecord>(
        _ payload: some SyncPayloadConvertible, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await plan(
            payload, inEntity: Value.entityName, stack: stack, predicate: predicate, parent: parent,
            operations: operations, options: options.checking(Value.self))
    }
}

extension SyncParent {
    /// Creates the parent of children that a relationship of a typed row has.
    ///
    /// ```swift
    /// try await Sync.changes(data, as: Note.self, stack: stack, parent: SyncParent(user, \.notes))
    /// ```
    /// - Throws: ``SyncError`` `unknownRelationship` if the key path is not a relationship.
    public init<Row: EntityRecord, Child: EntityRecord>(_ row: Row, _ relationship: KeyPath<Row, [Child]>) throws {
        guard let property = Row.syncProperties[relationship] else {
            throw SyncError(
                .unknownRelationship, "\(relationship) is not a relationship of \(Row.entityName)",
                entity: Row.entityName)
        }
        self.init(Row.entityName, id: row.syncID, relationship: property.name)
    }
}

// MARK: - Single rows

// The stack has the same calls, not async, for use inside `stack.write { db in … }`.
extension Sync {
    /// Inserts the row of one JSON record, or updates the row with its key. Other rows of the entity stay unchanged.
    /// See ``DataStack/insertOrUpdate(_:with:options:in:)``.
    ///
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the record has no readable key, `typeMismatch`,
    ///   `entityMismatch`. Nothing is written then.
    @discardableResult
    public static func insertOrUpdate(
        _ record: JSONValue, inEntity entity: String, stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await stack.insertOrUpdate(entity, with: record, options: options)
    }

    /// Inserts or updates the row of one dictionary from `JSONSerialization`.
    @discardableResult
    public nonisolated(nonsending) static func insertOrUpdate(
        _ record: [String: Any], inEntity entity: String, stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await insertOrUpdate(try JSONValue(any: record), inEntity: entity, stack: stack, options: options)
    }

    /// Updates the attributes and relationships of a row that the JSON record contains. See
    /// ``DataStack/update(_:id:with:options:in:)``.
    ///
    /// - Returns: The stored row and the changes; nil if no row has this key.
    /// - Throws: ``SyncError`` `duplicateKey` if another row has the key among the values. Nothing is written then.
    @discardableResult
    public static func update(
        id: JSONValue, with values: JSONValue, inEntity entity: String, stack: DataStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        try await stack.update(entity, id: id, with: values, options: options)
    }

    /// Updates the attributes and relationships of a row that a dictionary from `JSONSerialization` contains.
    @discardableResult
    public nonisolated(nonsending) static func update(
        id: JSONValue, with values: [String: Any], inEntity entity: String, stack: DataStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        try await update(id: id, with: try JSONValue(any: values), inEntity: entity, stack: stack, options: options)
    }

    /// Deletes a row by its key, and applies the delete rules of the model. If no row has the key, nothing changes.
    ///
    /// - Throws: ``SyncError`` `deletionDenied`. Nothing is written then.
    @discardableResult
    public static func delete(id: JSONValue, inEntity entity: String, stack: DataStack) async throws -> SyncResult {
        try await stack.delete(entity, id: id)
    }
}
