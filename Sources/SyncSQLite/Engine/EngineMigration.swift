import GRDB
import SyncCore
import SyncStore

/// Migrates the engine's tables when a store gets another model: names of entities, keys of rows, and pending changes.
/// Pending changes that do not fit the new model are reported as losses.
struct EngineMigration {
    /// Pending changes that the migration would lose.
    struct Loss {
        let path: String
        let what: String
        let count: Int
        let unit: String
    }

    /// A registered entity, before and after the migration.
    struct Registered {
        let number: Int
        let old: CompiledEntity
        let new: CompiledEntity
    }

    let db: Database
    let map: MigrationMap
    let keys: MigratedKeys
    let senders: SentLinkEnds
    private(set) var losses: [Loss] = []
    /// The old keys of locally deleted rows, by the number of their entity.
    private var deleted: [Int: Set<BinaryComparedValue>] = [:]

    init(_ db: Database, _ map: MigrationMap, _ keys: MigratedKeys, _ senders: SentLinkEnds) {
        self.db = db
        self.map = map
        self.keys = keys
        self.senders = senders
    }

    /// Migrates the engine's tables of a store with existing tables. Rows keep their keys unless the type or the
    /// attribute of the primary key changes.
    static func migrate(_ db: Database, from old: SyncModel, to new: SyncModel) throws {
        let map = MigrationMap(from: old, to: new)
        var migration = EngineMigration(db, map, MigratedKeys(map), SentLinkEnds(from: old, to: new))
        try migration.migrate()
    }

    /// Unblocks changes, since the engine may send them differently with another model.
    ///
    /// Changes that are blocked because the service no longer has the row stay blocked. Changes with a stored request
    /// are excluded too, because each run repeats the request anyway.
    static func unblockRows(in db: Database) throws {
        guard try EngineSchema.names(in: db) != nil else { return }
        guard try EngineSchema.isCurrent(in: db) else { return try EngineUpgrade.unblockFormerRows(in: db) }
        try EngineLedger(db).unblock(.model)
    }

    /// Migrates the engine's tables. Call this method in the transaction that migrates the store.
    mutating func migrate() throws {
        guard try EngineSchema.names(in: db) != nil else { return }
        try EngineUpgrade.upgrade(in: db)
        let ledger = EngineLedger(db)
        deleted = try ledger.deletedKeys()
        var registered: [Registered] = []
        for (number, name) in try ledger.entities() {
            guard let old = map.old.model.entityID(name).map({ map.old.model.entities[$0] }) else { continue }
            if let new = map.successors[old.id].map({ map.new.model.entities[$0] }) {
                registered.append(Registered(number: number, old: old, new: new))
            } else {
                try deleteEntity(number, old)
            }
        }
        // Rename to unused names first, since entities may exchange their names.
        for entity in registered { try ledger.renameEntity(entity.number, to: "sync \(entity.number)") }
        for entity in registered {
            try ledger.renameEntity(entity.number, to: entity.new.name)
            try migrateFields(of: entity)
            try migrateKeys(of: entity)
        }
        try migrateLinks(of: registered)
    }

    /// Deletes the entries of an entity that is not in the new model, and reports its pending changes as losses.
    private mutating func deleteEntity(_ number: Int, _ entity: CompiledEntity) throws {
        let ledger = EngineLedger(db)
        lose(
            "entities.\(entity.name)", "the entity is synced with a service, and changes are still pending",
            try ledger.changeCount(of: number), "change")
        // Leave no entries, since another entity may get the number.
        try ledger.deleteEntries(of: number)
        try ledger.deleteEntity(number)
    }

    /// Returns whether the row with this old key was deleted locally. Edits of deleted rows are not losses.
    func isDeleted(_ key: DatabaseValue, of entity: Registered) -> Bool {
        deleted[entity.number]?.contains(key.exact) ?? false
    }

    mutating func lose(_ path: String, _ what: String, _ count: Int, _ unit: String) {
        if count > 0 { losses.append(Loss(path: path, what: what, count: count, unit: unit)) }
    }

    // MARK: Links

    /// Migrates pending join edits.
    private mutating func migrateLinks(of registered: [Registered]) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT link, owner, other, op, edited FROM sync_link")
        guard !rows.isEmpty else { return }
        try db.execute(sql: "DELETE FROM sync_link")
        for row in rows {
            let name = try row.decode(String.self, atIndex: 0)
            let found = map.old.model.links.first { link in
                if case .joinTable(name, _, _, _, _) = map.old[link.id] { true } else { false }
            }
            guard let old = found else { continue }
            let end = senders.old[old.id] ?? .first
            let (mine, theirs) = (
                map.old.model.entities[old.side(end).entity], map.old.model.entities[old.side(end.other).entity]
            )
            guard let new = senders.successor(of: old, map), case .joinTable(let table, _, _, _, _) = map.new[new.id],
                let owner = try MigratedKeyMap(mine, map, keys)?.key(row[1]),
                let other = try MigratedKeyMap(theirs, map, keys)?.key(row[2])
            else {
                let owners = registered.filter { $0.old.table == mine.table }
                if !owners.contains(where: { isDeleted(row[1], of: $0) }) {
                    lose("tables.\(name)", "changes of links are still pending", 1, "link")
                }
                continue
            }
            try db.execute(
                sql: "INSERT OR IGNORE INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?)",
                arguments: [table, owner, other, row[3], row[4]])
        }
    }
}
