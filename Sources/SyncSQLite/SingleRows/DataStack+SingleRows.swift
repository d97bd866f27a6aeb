public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Stores one JSON record: a new row, or the values that differ in the row with its key.
    ///
    /// Everything nested in the record is synced as ``Sync`` does, lists of children with deletions too; other rows of
    /// the entity are left alone.
    ///
    /// ```swift
    /// try await stack.write { db in
    ///     let user = try stack.insertOrUpdate("User", with: ["id": 6, "name": "Ann"], in: db).row
    /// }
    /// ```
    /// - Returns: The row as stored, and what the call changed.
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the record has no readable key, `valueDoesNotFit` if it lacks a
    ///   value that a new row must have, `entityMismatch` if the key is that of a row of another entity,
    ///   `recordExpected`, `unknownEntity`, `abstractEntity`, `keylessEntity`. Nothing is written then.
    @discardableResult
    public func insertOrUpdate(
        _ entity: String, with record: JSONValue, options: SyncOptions = SyncOptions(), in db: Database
    ) throws -> (row: SyncRecord, result: SyncResult) {
        try insertOrUpdate(entity, with: record, options, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the transaction is the stack's.
    private func insertOrUpdate(
        _ entity: String, with record: JSONValue, _ options: SyncOptions, in db: Database, isOwn: Bool
    ) throws -> (row: SyncRecord, result: SyncResult) {
        let staging = try singleRowStaging(entity, options)
        return try sync(singleRecord: try staging.stage(singleRecord: record), options, in: db, isOwn: isOwn)
    }

    /// Stores one JSON record, in a transaction of its own.
    @discardableResult
    public func insertOrUpdate(
        _ entity: String, with record: JSONValue, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRecord, result: SyncResult) {
        let stored = try await writing { db in
            try self.insertOrUpdate(entity, with: record, options, in: db, isOwn: true)
        }
        feed.publish(stored.result)
        return stored
    }

    // MARK: Plans of one record

    func singleRowStaging(_ entity: String, _ options: SyncOptions) throws -> PayloadStaging {
        try PayloadStaging(
            inEntity: entity, of: model, parent: nil, relationship: nil,
            operations: .all.subtracting(.delete), options: options)
    }

    /// Applies a plan whose only root record has a key. Undoes everything if that record is refused.
    func sync(
        singleRecord payload: StagedPayload, _ options: SyncOptions, in db: Database, isOwn: Bool
    ) throws -> (row: SyncRecord, result: SyncResult) {
        let plan = payload.plan
        let entity = model.compiled.entities[plan.entity]
        guard let key = plan.rootKey else {
            throw SyncError(
                .primaryKeyMissing, plan.diagnostics.first?.message ?? "the record has no readable key",
                entity: entity.name, path: plan.diagnostics.first?.path)
        }
        var applied: (row: SyncRecord, result: SyncResult)?
        try DeferredForeignKeys.during(db, isAdopted) {
            try db.inSavepoint {
                let result = try session(watch.visit(db, isOwn: isOwn), SyncRequest(options: options))
                    .apply(payload)
                guard result.root.inserted + result.root.matched > 0,
                    let row = try fetch(entity, key: key, in: db)
                else { throw refusal(entity, result) }
                applied = (row, result)
                return .commit
            }
        }
        guard let applied else { throw SyncError(.storeFailure, "the row is not there", entity: entity.name) }
        return applied
    }

    private func refusal(_ entity: CompiledEntity, _ result: SyncResult) -> SyncError {
        let reason = result.diagnostics.first { $0.kind == .requiredValueMissing || $0.kind == .entityMismatch }
        let code: SyncError.Code = reason?.kind == .entityMismatch ? .entityMismatch : .valueDoesNotFit
        return SyncError(code, reason?.message ?? "the record was refused", entity: entity.name, path: reason?.path)
    }
}
