public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Deletes the row with this key, and what the delete rules of the model delete with it. No error if there is none.
    ///
    /// - Returns: What was deleted, and which rows lost a link.
    /// - Throws: ``SyncError`` `deletionDenied`, `unknownEntity`, `keylessEntity`. Nothing is written then.
    @discardableResult
    public func delete(_ entity: String, id: JSONValue, in db: Database) throws -> SyncResult {
        try delete(entity, id: id, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the transaction is the stack's.
    private func delete(
        _ entity: String, id: JSONValue, in db: Database, isOwn: Bool
    ) throws -> SyncResult {
        guard let row = try fetch(entity, id: id, in: db) else { return SyncResult(entity: entity) }
        var result = SyncResult(entity: entity)
        try DeferredForeignKeys.during(db, isAdopted) {
            try db.inSavepoint {
                guard let key = RowKey(row.rowKey) else { return .commit }
                result = try session(watch.visit(db, isOwn: isOwn), SyncRequest())
                    .delete([StoredRow(table: row.type.table, key: key)], of: row.type)
                return .commit
            }
        }
        return result
    }

    /// Deletes the row with this key, in a transaction of its own.
    @discardableResult
    public func delete(_ entity: String, id: JSONValue) async throws -> SyncResult {
        let result = try await writing { db in try self.delete(entity, id: id, in: db, isOwn: true) }
        feed.publish(result)
        return result
    }
}
