import Foundation
import GRDB
import SyncCore
import SyncStore

extension DataStack {
    /// Removes everything that sync engines store in the database: tables, triggers, pending changes and the conflict
    /// log.
    ///
    /// Call this method before you sync the database with another service, or for another user. The method sends no
    /// requests. Afterwards, local changes are not recorded until the app creates another engine. If no engine has been
    /// created, the method does nothing, whatever the value of `deletingRows`.
    ///
    /// - Parameter deletingRows: Whether to delete the rows of the synced entities. Pass true if another user must not
    ///   see or send these rows. Cascading foreign keys can also delete rows of other entities.
    /// - Throws: ``SyncError`` `engineBusy` during an engine run. `modelMismatch` if another connection migrated the
    ///   store. `databaseError`, `databaseBusy`, `databaseReadOnly` or `storeClosed`. If the call throws an error, it
    ///   removes nothing.
    public func removeSyncState(deletingRows: Bool) async throws {
        try await DatabaseErrorMapper.mapped(.databaseError, "cannot remove the engine's tables") {
            try await database.write { [self] db in
                try watch.check(db)
                guard let names = try EngineSchema.names(in: db) else { return }
                _ = try EngineTableCheck.located(in: db) { try LeaseStore.acquire(UUID().uuidString, in: db) }
                try DeferredForeignKeys.during(db, hasExistingTables) {
                    try EngineSchema.removeTriggers(from: db)
                    if deletingRows { try deleteRowsInStep(db) }
                    let others = ["sync_engine", "sync_entity", "sync_lease", names.captureOff]
                    for name in names.entries + others { try db.execute(sql: "DROP TABLE \(name.quoted)") }
                }
            }
        }
    }

    private func deleteRowsInStep(_ db: Database) throws {
        for (_, name) in try EngineLedger(db).entities() {
            guard let entity = try? model.compiled.entity(named: name) else { continue }
            try deleteRows(of: entity, in: db)
        }
        try deletePendingReferencesOfMissingRows(in: db)
    }
}
