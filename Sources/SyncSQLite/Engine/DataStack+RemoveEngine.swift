import Foundation
import GRDB
import SyncCore
import SyncStore

extension DataStack {
    /// Removes everything that sync engines store in the database: tables, triggers, pending changes and the conflict
    /// log.
    ///
    /// Call this method before you sync the database with another service, or for another user. The method sends no
    /// requests. Afterwards, local changes are not recorded until the app creates another engine. Calls of the former
    /// engine throw `databaseError`, also after the app has created another one. If no engine has been created, the
    /// method does nothing, whatever the value of `deletingRows`.
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
                try DeferredForeignKeys.during(db, isAppDatabase) {
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

extension DataStack {
    /// Deletes the rows of an entity and its subentities. Other rows of its table stay, unless a foreign key action
    /// deletes them.
    func deleteRows(of entity: CompiledEntity, in db: Database) throws {
        let isPart = entity.family.count < layout.model[entity.table].entities.count
        let own = isPart ? " WHERE \(SchemaSQL.entityCondition(entity.family, layout))" : ""
        try db.execute(sql: "DELETE FROM \(layout[entity.table].sql)\(own)")
    }

    func deletePendingReferencesOfMissingRows(in db: Database) throws {
        let dangling = DanglingLinks(layout: layout, db: db)
        for table in Set(layout.model.entities.map(\.table)) {
            try dangling.deletePendingReferences(ofMissingRowsIn: table)
        }
    }
}

extension SQLiteEngineStore {
    /// Removes the rows that the engine syncs, and their entries. It sends no deletions to the service. Rows and entries
    /// of entities that only other engines sync stay, except rows that cascades delete. The next pull restores these
    /// rows.
    func removeRows(in db: Database) throws {
        try CaptureSuppression.writing.set(in: db)
        let ledger = EngineLedger(db)
        // The entities that only other engines sync.
        let others = try ledger.entities().compactMap { number, name -> TrackedTable? in
            if self.tables.contains(where: { $0.number == number }) { return nil }
            return TrackedTable.ofOtherEngine(
                name, number: number, supportsCompositeIDs: true, sendsCascades: false, stack)
        }
        let all = tables + others
        for other in others {
            // Record earlier deletions first, to distinguish them from the rows that the cascades below delete.
            try ledger.repairSurrogateKeys(of: other, among: all)
            try other.auditMissing(in: db)
            for table in tables { try PreservedReferences(self, other, to: table, db).preserve() }
        }
        let counts = try others.map { try $0.count(in: db) }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        for table in tables { try ledger.deleteJoinEdits(of: table) }
        for table in tables {
            try ledger.deleteEntries(of: table.number)
            try stack.deleteRows(of: table.entity, in: db)
        }
        for (other, count) in zip(others, counts) {
            try ledger.repairSurrogateKeys(of: other, among: all)
            try other.deleteMissing(in: db)
            // Rows that cascades deleted are pulled again.
            if try other.count(in: db) < count { try ledger.clearCursor(of: other) }
        }
        try stack.deletePendingReferencesOfMissingRows(in: db)
        try CaptureSuppression.clearAll(in: db)
    }
}
