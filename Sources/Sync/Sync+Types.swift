public import Foundation
public import SyncCalls
public import SyncCore
public import SyncSQLite

extension SyncOptions {
    /// The same options for rows that are read as values of a type.
    fileprivate func checking(_ type: any SyncEntity.Type) -> SyncOptions {
        var options = self
        options.types.append(type)
        return options
    }
}

// The calls of `Sync` for Swift types: what they do is said there.
extension Sync {
    /// Makes the stored rows of a type what a JSON payload says.
    ///
    /// ```swift
    /// let result = try await Sync.changes(data, as: User.self, stack: stack)
    /// print(result[User.self].inserted)
    /// ```
    /// A value that the type of its property cannot hold, as a new case of an enumeration, is left out with a diagnostic.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or an error of SQLite. The store is then as it was.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ json: Data, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await changes(
            json, inEntity: Value.entityName, stack: stack, predicate: predicate, operations: operations,
            options: options.checking(Value.self))
    }

    /// Makes the children of a stored row what a JSON payload says.
    ///
    /// ```swift
    /// try await Sync.changes(data, as: Note.self, parent: user, through: \.notes, stack: stack)
    /// ```
    /// - Parameters:
    ///   - parent: The row whose children the payload lists.
    ///   - path: The relationship that leads to them.
    /// - Throws: ``SyncError`` `unknownRelationship` for a key path that is none, and as the other calls do.
    @discardableResult
    public static func changes<Value: EntityRecord, Parent: EntityRecord>(
        _ json: Data, as type: Value.Type, parent: Parent, through path: KeyPath<Parent, [Value]>, stack: DataStack,
        predicate: RowPredicate? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        guard let property = Parent.syncProperties[path] else {
            throw SyncError(
                .unknownRelationship, "\(path) is no relationship of \(Parent.entityName)", entity: Parent.entityName)
        }
        return try await changes(
            json, inEntity: Value.entityName, stack: stack, predicate: predicate,
            parent: (Parent.entityName, parent.syncID), relationship: property.name, operations: operations,
            options: options.checking(Value.self))
    }

    /// Makes the stored rows of a type what some values are, with the rows of their relationships as far as these are
    /// loaded: of others nothing is said.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` for a value that no JSON is read back from, and as the other calls do.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ values: [Value], stack: DataStack, predicate: RowPredicate? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await changes(
            stack.payload(of: values), inEntity: Value.entityName, stack: stack, predicate: predicate,
            operations: operations, options: options)
    }

    /// Makes the stored rows of an entity what some values say as JSON: what a client of a service decoded, say. Dates are
    /// written as ISO 8601.
    ///
    /// - Throws: `EncodingError`, and as the other calls do.
    @discardableResult
    public static func changes<Value: Encodable>(
        encoding values: [Value], inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await changes(
            JSONCodedValue.json(values), inEntity: entity, stack: stack, predicate: predicate, operations: operations,
            options: options)
    }

    /// What ``changes(_:as:stack:predicate:operations:options:)`` would change. Writes nothing.
    public static func plan<Value: EntityRecord>(
        _ json: Data, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await plan(
            json, inEntity: Value.entityName, stack: stack, predicate: predicate, operations: operations,
            options: options.checking(Value.self))
    }

    /// Makes the stored rows of a type what a JSON payload says, in the caller's transaction.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ json: Data, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try changes(
            json, inEntity: Value.entityName, stack: stack, predicate: predicate, operations: operations,
            options: options.checking(Value.self), in: db)
    }
}

// MARK: - Single rows

// Inside `stack.write { db in … }` the stack has the same calls, not async.
extension Sync {
    /// Stores one JSON record: a new row, or the values that differ in the row with its key. Other rows of the entity
    /// are left alone. See ``DataStack/insertOrUpdate(_:with:options:in:)``.
    ///
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the record has no readable key, `valueDoesNotFit`,
    ///   `entityMismatch`. Nothing is written then.
    @discardableResult
    public static func insertOrUpdate(
        _ record: JSONValue, inEntity entity: String, stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await stack.insertOrUpdate(entity, with: record, options: options)
    }

    /// Stores one record as `JSONSerialization` read it.
    @discardableResult
    public nonisolated(nonsending) static func insertOrUpdate(
        _ record: [String: Any], inEntity entity: String, stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await insertOrUpdate(try JSONValue(any: record), inEntity: entity, stack: stack, options: options)
    }

    /// Changes the row with this key: what the JSON says of its attributes and relationships, and nothing else.
    /// See ``DataStack/update(_:id:with:options:in:)``.
    ///
    /// - Returns: The row as stored and what the call changed; nil if no row has this key.
    /// - Throws: ``SyncError`` `keyTaken` if another row has the key among the values. Nothing is written then.
    @discardableResult
    public static func update(
        id: JSONValue, with values: JSONValue, inEntity entity: String, stack: DataStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        try await stack.update(entity, id: id, with: values, options: options)
    }

    /// Changes the row with this key to what `JSONSerialization` read.
    @discardableResult
    public nonisolated(nonsending) static func update(
        id: JSONValue, with values: [String: Any], inEntity entity: String, stack: DataStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        try await update(id: id, with: try JSONValue(any: values), inEntity: entity, stack: stack, options: options)
    }

    /// Deletes the row with this key by the delete rules of the model. No error if there is none.
    ///
    /// - Throws: ``SyncError`` `deletionDenied`. Nothing is written then.
    @discardableResult
    public static func delete(id: JSONValue, inEntity entity: String, stack: DataStack) async throws -> SyncResult {
        try await stack.delete(entity, id: id)
    }
}
