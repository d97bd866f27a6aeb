public import SyncCore
import SyncStore

// Single rows. `DataStack` has synchronous versions of these calls, for use inside `stack.write { db in … }`.
extension Sync {
    /// Inserts a row for a JSON record, or updates the row with the key of the record. The call also syncs nested
    /// records.
    ///
    /// For details, see ``DataStack/insertOrUpdate(_:with:options:in:)``.
    ///
    /// - Returns: The stored row, and the changes.
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the record has no readable key, and the other errors of
    ///   ``DataStack/insertOrUpdate(_:with:options:in:)``. If the call throws an error, the store is unchanged.
    @discardableResult
    public static func insertOrUpdate(
        _ record: JSONValue, inEntity entity: String, stack: some SyncStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await stack.store.syncRow(SyncRequest(options: options)) { try $0.insertOrUpdate(entity, with: record) }
    }

    /// Inserts or updates the row of a record. The record is a dictionary from `JSONSerialization`.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that has no JSON form, `nestingTooDeep`, and the errors of
    ///   ``insertOrUpdate(_:inEntity:stack:options:)-(JSONValue,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func insertOrUpdate(
        _ record: [String: Any], inEntity entity: String, stack: some SyncStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await insertOrUpdate(try JSONValue(any: record), inEntity: entity, stack: stack, options: options)
    }

    /// Updates a row with the attributes and relationships that a JSON record contains.
    ///
    /// For details, see ``DataStack/update(_:id:with:options:in:)``.
    ///
    /// - Returns: The stored row and the changes; nil if no row has the key.
    /// - Throws: ``SyncError`` `duplicateKey` if `values` changes the key to the key of another row, and the other
    ///   errors of ``DataStack/update(_:id:with:options:in:)``. If the call throws an error, the store is unchanged.
    @discardableResult
    public static func update(
        id: JSONValue, with values: JSONValue, inEntity entity: String, stack: some SyncStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        let request = SyncRequest(options: options)
        let updated: (row: SyncRow?, result: SyncResult) = try await stack.store.syncRow(request) { rows in
            let found = try rows.update(entity, id: id, with: values)
            return (found?.row, found?.result ?? SyncResult(entity: entity))
        }
        guard let row = updated.row else { return nil }
        return (row, updated.result)
    }

    /// Updates a row with the attributes and relationships that a dictionary from `JSONSerialization` contains.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that has no JSON form, `nestingTooDeep`, and the errors of
    ///   ``update(id:with:inEntity:stack:options:)-(_,JSONValue,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func update(
        id: JSONValue, with values: [String: Any], inEntity entity: String, stack: some SyncStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        try await update(id: id, with: try JSONValue(any: values), inEntity: entity, stack: stack, options: options)
    }

    /// Deletes a row by its key, and applies the delete rules of the model. If no row has the key, nothing changes.
    ///
    /// - Returns: The deleted rows, and the rows that lost a link.
    /// - Throws: ``SyncError`` `deletionDenied` if a delete rule `deny` protects the row, and the other errors of
    ///   ``DataStack/delete(_:id:in:)``. If the call throws an error, the store is unchanged.
    @discardableResult
    public static func delete(
        id: JSONValue, inEntity entity: String, stack: some SyncStack
    ) async throws -> SyncResult {
        try await stack.store.writing { [model = stack.store.model, request = SyncRequest()] writer in
            try writer.transaction(request) { session in
                try SingleRowSync(session, writer.reader, model).delete(entity, id: id)
            }
        }
    }

    /// Deletes all rows of all entities, regardless of delete rules.
    ///
    /// The call also deletes pending references, pending changes and the conflict log. A sync engine does not delete
    /// the records at the service, and the next pull fetches the records again.
    ///
    /// - Throws: ``SyncError`` `databaseError`, and other errors of the store. If the call throws an error, it deletes
    ///   nothing.
    public static func deleteAllRows(stack: some SyncStack) async throws {
        try await stack.store.writing { writer in try writer.deleteAllRows() }
    }
}

extension StoreHost {
    /// Writes a single row in one transaction.
    fileprivate func syncRow<Row: Sendable>(
        _ request: SyncRequest, _ body: @escaping @Sendable (SingleRowSync) throws -> (row: Row, result: SyncResult)
    ) async throws -> (row: Row, result: SyncResult) {
        let model = model
        return try await writing { writer in
            var row: Row?
            let result = try writer.transaction(request) { session in
                let written = try body(SingleRowSync(session, writer.reader, model))
                row = written.row
                return written.result
            }
            guard let writtenRow = row else { throw SyncError(.databaseError, "the store ran no transaction") }
            return (writtenRow, result)
        }
    }
}
