public import GRDB
public import SyncCore

extension DataStack {
    /// Deletes the row with this key, and what the delete rules of the model delete with it. No error if there is none.
    ///
    /// - Returns: What was deleted, and which rows lost a link.
    /// - Throws: ``SyncError`` `deletionDenied`, `unknownEntity`, `keylessEntity`. Nothing is written then.
    @discardableResult
    public func delete(_ entity: String, id: JSONValue, in db: Database) throws -> SyncResult {
        guard let row = try fetch(entity, id: id, in: db) else { return SyncResult(entity: entity) }
        var result = SyncResult(entity: entity)
        try db.inSavepoint {
            result = try SyncSession(db, layout, arrivals, SyncRequest()).delete(row)
            return .commit
        }
        return result
    }

    /// Deletes the row with this key, in a transaction of its own.
    @discardableResult
    public func delete(_ entity: String, id: JSONValue) async throws -> SyncResult {
        try await writing { db in try self.delete(entity, id: id, in: db) }
    }
}
