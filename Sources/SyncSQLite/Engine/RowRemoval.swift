import GRDB
import SyncCore
import SyncStore

/// Takes away the rows that an engine keeps in step, and what is known of them. To the service that is no deletion. Rows of other
/// entities that engines kept in step stay, with what is known of them.
struct RowRemoval {
    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Deletes the rows of an entity and of those that inherit from it, and no others of its table.
    static func deleteRows(of entity: CompiledEntity, _ layout: StoreLayout, in db: Database) throws {
        let isPart = entity.family.count < layout.model[entity.table].entities.count
        let own = isPart ? " WHERE \(SchemaSQL.entityCondition(entity.family, layout))" : ""
        try db.execute(sql: "DELETE FROM \(layout[entity.table].name.quoted)\(own)")
    }

    func remove() throws {
        try CaptureSuppression.writing.set(in: db)
        let others = try otherTables()
        for other in others {
            // What was deleted of them before is not taken for what goes along now.
            if try other.isWatched(in: db) { try other.recordMissing(in: db) } else { try other.forgetMissing(in: db) }
            for table in engine.tables { try PreservedReferences(engine, other, to: table, db).keep() }
        }
        let counts = try others.map { try $0.count(in: db) }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        for table in engine.tables { try engine.removeLinks(of: table, in: db) }
        for table in engine.tables {
            try EngineSchema.forgetEntity(table.number, in: db)
            try Self.deleteRows(of: table.entity, engine.stack.layout, in: db)
        }
        let dangling = DanglingLinks(layout: engine.stack.layout, db: db)
        for (other, count) in zip(others, counts) {
            try other.forgetMissing(in: db)
            // What went along comes again.
            if try other.count(in: db) < count { try other.pullAll(in: db) }
            try dangling.deletePendingReferences(ofMissingRowsIn: other.entity.table)
        }
        try EngineSchema.unmute(in: db)
    }

    /// The entities that engines kept in step, and this one does not.
    private func otherTables() throws -> [TrackedTable] {
        let stack = engine.stack
        return try Row.fetchAll(db, sql: "SELECT e, name FROM sync_entity ORDER BY e").compactMap { row in
            let (number, name) = try (row.decode(Int.self, atIndex: 0), row.decode(String.self, atIndex: 1))
            guard !engine.tables.contains(where: { $0.number == number }), stack.model.compiled.entityID(name) != nil
            else { return nil }
            let entity = EngineRegistration.Entity(
                name: name, policy: .clientWins, deletions: .deleteWins, isOneDomain: false, naturalKey: [],
                sendsCascades: false)
            // One that the model does not allow to be kept in step any more is not asked for.
            return try? TrackedTable(entity, number: number, takesParts: true, stack.model, stack.layout)
        }
    }
}
