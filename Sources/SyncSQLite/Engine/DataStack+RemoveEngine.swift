import Foundation
import GRDB
import SyncCore
import SyncStore

extension DataStack {
    /// Removes all that engines keep in the database: tables and triggers, edits that were not sent, the log of conflicts.
    ///
    /// For a database that another service or user is to have. No request is made, and from then on edits are not noticed,
    /// until an engine is made anew.
    ///
    /// - Parameter deletingRows: Whether the rows of the entities that were kept in step go too: where another user is not to
    ///   see them, or have them sent. Rows of other entities stay, also in a table that several entities share.
    /// - Throws: ``SyncError`` `engineBusy` while an engine syncs the database.
    public func removeEngine(deletingRows: Bool) async throws {
        try await DatabaseErrorMapper.mapped(.storeFailure, "the engine's tables cannot be removed") {
            try await database.write { [self] db in
                try watch.check(db)
                guard try EngineSchema.isThere(in: db) else { return }
                _ = try EngineDamage.located(in: db) { try LeaseStore.take(UUID().uuidString, in: db) }
                try DeferredForeignKeys.during(db, isAdopted) {
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
