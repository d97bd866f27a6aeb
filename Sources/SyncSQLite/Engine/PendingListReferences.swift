import GRDB
import SyncCore
import SyncStore

/// The pending references of a many-to-many list of a row.
struct PendingListReferences {
    private let engine: SQLiteEngineStore
    private let joinTable: TrackedTable.JoinTable
    private let table: TrackedTable
    private let owner: DatabaseValue
    private let db: Database
    /// The entity of the listed rows.
    private let target: CompiledEntity
    /// The SQL condition of the pending references, with the parameters `?1` and `?2`.
    private let isInList: String

    /// `owner` is the key of the row that has the list.
    init(
        _ engine: SQLiteEngineStore, _ joinTable: TrackedTable.JoinTable, of owner: DatabaseValue,
        _ table: TrackedTable, _ db: Database
    ) {
        (self.engine, self.joinTable, self.table, self.owner, self.db) = (engine, joinTable, table, owner, db)
        let model = engine.model.compiled
        target = model.entities[model[joinTable.link].side(joinTable.end.other).entity]
        isInList = "owner_entity IN (\(table.family)) AND owner_key = ?1 AND relationship = ?2"
    }

    /// Returns the keys of the rows that are not stored, with their positions, in list order.
    func all() throws -> [(key: DatabaseValue, position: Int64)] {
        try db.rows(
            "SELECT target_key, position FROM sync_pending WHERE \(isInList) ORDER BY position", owner,
            joinTable.relationship
        ).map { (try engine.currentElement($0[0], of: joinTable, db), try $0.decode(atIndex: 1)) }
    }

    func contains(_ key: DatabaseValue) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM sync_pending WHERE \(isInList) AND target_key = ?3", owner, joinTable.relationship,
            targetKey(key))
    }

    /// Inserts a reference to a row that is not stored. `position`: its position; nil for the end of the list.
    func insert(_ key: DatabaseValue, at position: Int64?) throws {
        let end = "SELECT ifnull(max(position), -1) + 1 FROM sync_pending WHERE \(isInList)"
        try db.run(
            """
            INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
            VALUES (?3, ?1, ?2, coalesce(?4, (\(end))), ?5, ?6) ON CONFLICT DO NOTHING
            """, owner, joinTable.relationship, table.kind(of: owner, engine.model.compiled, in: db).name, position,
            target.name, targetKey(key))
    }

    func delete(_ key: DatabaseValue) throws {
        try db.run(
            "DELETE FROM sync_pending WHERE \(isInList) AND target_key = ?3", owner, joinTable.relationship,
            targetKey(key))
    }

    /// Returns whether the row is stored.
    func isStored(_ key: DatabaseValue) throws -> Bool {
        try engine.stack.layout[joinTable.destination].hasRow(key, in: db)
    }

    /// Returns whether the row was deleted locally, and the deletion is pending.
    func isDeletedLocally(_ key: DatabaseValue) throws -> Bool {
        try engine.tables.contains { table in
            guard table.entity.table == joinTable.destination else { return false }
            return try EngineLedger(db).change(of: key, table)?.kind == .delete
        }
    }

    /// Returns the key of a row as `sync_pending` has it.
    private func targetKey(_ key: DatabaseValue) throws -> DatabaseValue {
        try engine.pendingKey(key, of: target, in: db) ?? key
    }
}

extension SQLiteEngineStore {
    /// Returns a list with its pending references inserted at their positions, as it is sent. At the service, the list
    /// contains these rows. References to rows that were deleted locally are left out.
    func list(
        _ joinTable: TrackedTable.JoinTable, of key: DatabaseValue, _ table: TrackedTable, in db: Database
    ) throws -> [DatabaseValue] {
        let references = PendingListReferences(self, joinTable, of: key, table, db)
        let stored = try LinkedRowList(joinTable).others(of: key, in: db)
        return try references.all().reduce(into: stored) { list, reference in
            if try references.isDeletedLocally(reference.key) { return }
            list.insert(reference.key, at: min(max(Int(reference.position), 0), list.count))
        }
    }
}
