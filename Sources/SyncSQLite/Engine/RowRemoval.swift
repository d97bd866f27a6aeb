import GRDB
import SyncCore
import SyncStore

/// Removes the rows that an engine syncs, and their entries. It sends no deletions to the service. Rows and entries of
/// entities that only other engines sync stay, except rows that cascades delete. The next pull restores these rows.
struct RowRemoval {
    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Deletes the rows of an entity and its subentities. Other rows of its table stay, unless a foreign key action
    /// deletes them.
    static func deleteRows(of entity: CompiledEntity, _ layout: StoreLayout, in db: Database) throws {
        let isPart = entity.family.count < layout.model[entity.table].entities.count
        let own = isPart ? " WHERE \(SchemaSQL.entityCondition(entity.family, layout))" : ""
        try db.execute(sql: "DELETE FROM \(layout[entity.table].name.quoted)\(own)")
    }

    /// Deletes the pending references of rows that are no longer stored.
    static func deletePendingReferences(_ layout: StoreLayout, in db: Database) throws {
        let dangling = DanglingLinks(layout: layout, db: db)
        for table in Set(layout.model.entities.map(\.table)) {
            try dangling.deletePendingReferences(ofMissingRowsIn: table)
        }
    }

    func remove() throws {
        try CaptureSuppression.writing.set(in: db)
        let others = try otherTables()
        let tables = engine.tables + others
        for other in others {
            // Record earlier deletions first, to distinguish them from the rows that the cascades below delete.
            try SurrogateKeyRepair(other, among: tables, db).repair()
            try other.auditMissing(in: db)
            for table in engine.tables { try PreservedReferences(engine, other, to: table, db).preserve() }
        }
        let counts = try others.map { try $0.count(in: db) }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        let ledger = EngineLedger(db)
        for table in engine.tables { try ledger.deleteJoinEdits(of: table) }
        for table in engine.tables {
            try ledger.deleteEntries(of: table.number)
            try Self.deleteRows(of: table.entity, engine.stack.layout, in: db)
        }
        for (other, count) in zip(others, counts) {
            try SurrogateKeyRepair(other, among: tables, db).repair()
            try other.deleteMissing(in: db)
            // Rows that cascades deleted are pulled again.
            if try other.count(in: db) < count { try ledger.clearCursor(of: other) }
        }
        try Self.deletePendingReferences(engine.stack.layout, in: db)
        try CaptureSuppression.clearAll(in: db)
    }

    /// Returns the tables of entities that only other engines sync.
    private func otherTables() throws -> [TrackedTable] {
        let stack = engine.stack
        return try EngineLedger(db).entities().compactMap { number, name in
            guard !engine.tables.contains(where: { $0.number == number }), stack.model.compiled.entityID(name) != nil
            else { return nil }
            let entity = EngineRegistration.Entity(
                name: name, policy: .clientWins, deletions: .deleteWins, mergesWholeRow: false, naturalKey: [],
                sendsCascades: false)
            // Skip entities that the model no longer allows to be synced.
            return try? TrackedTable(entity, number: number, supportsCompositeIDs: true, stack.model, stack.layout)
        }
    }
}
