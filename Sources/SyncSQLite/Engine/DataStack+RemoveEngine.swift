import Foundation
import GRDB
import SyncCore
import SyncStore

extension DataStack {
    /// Removes everything that engines store in the database: tables, triggers, pending changes and the conflict log.
    ///
    /// Call this method before the database is synced with another service or user. It sends no requests. Later edits
    /// are not recorded until an engine is created again.
    ///
    /// - Parameter deletingRows: Whether to delete the rows of the synced entities too, so that another user does not
    ///   see or send them. Rows of other entities stay, except rows that foreign keys delete by a cascade.
    /// - Throws: ``SyncError`` `engineBusy` while an engine syncs the database.
    public func removeSyncState(deletingRows: Bool) async throws {
        try await DatabaseErrorMapper.mapped(.databaseError, "cannot remove the engine's tables") {
            try await database.write { [self] db in
                try watch.check(db)
                guard try EngineSchema.isThere(in: db) else { return }
                _ = try EngineTableCheck.located(in: db) { try LeaseStore.acquire(UUID().uuidString, in: db) }
                try DeferredForeignKeys.during(db, hasExistingTables) {
                    try EngineSchema.removeTriggers(from: db)
                    if deletingRows { try deleteRowsInStep(db) }
                    for name in EngineSchema.tableNames { try db.execute(sql: "DROP TABLE IF EXISTS \(name.quoted)") }
                }
            }
        }
    }

    private func deleteRowsInStep(_ db: Database) throws {
        for name in try String.fetchAll(db, sql: "SELECT name FROM sync_entity") {
            guard let entity = try? model.compiled.entity(named: name) else { continue }
            try RowRemoval.deleteRows(of: entity, layout, in: db)
        }
    }
}
