public import SyncCalls
public import SyncCore
public import SyncSQLite

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
    ) async throws -> (row: SyncRecord, result: SyncResult) {
        try await stack.insertOrUpdate(entity, with: record, options: options)
    }

    /// Stores one record as `JSONSerialization` read it.
    @discardableResult
    public nonisolated(nonsending) static func insertOrUpdate(
        _ record: [String: Any], inEntity entity: String, stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRecord, result: SyncResult) {
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
    ) async throws -> (row: SyncRecord, result: SyncResult)? {
        try await stack.update(entity, id: id, with: values, options: options)
    }

    /// Changes the row with this key to what `JSONSerialization` read.
    @discardableResult
    public nonisolated(nonsending) static func update(
        id: JSONValue, with values: [String: Any], inEntity entity: String, stack: DataStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRecord, result: SyncResult)? {
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
