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
    /// The current names of the tables of the old model that were renamed, by their original names.
    let renamed: [String: String]
    private(set) var losses: [Loss] = []
    /// The old keys of locally deleted rows, by the number of their entity.
    private var deleted: [Int: Set<BinaryComparedValue>] = [:]

    init(
        _ db: Database, _ map: MigrationMap, _ keys: MigratedKeys, _ senders: SentLinkEnds,
        renamed: [String: String] = [:]
    ) {
        (self.db, self.map, self.keys, self.senders, self.renamed) = (db, map, keys, senders, renamed)
    }

    /// Migrates the engine's tables of a store with existing tables. Rows keep their keys unless the type or the
    /// attribute of the primary key changes.
    static func migrate(_ db: Database, from old: SyncModel, to new: SyncModel) throws {
        let map = try MigrationMap(from: old, to: new)
        var migration = EngineMigration(db, map, MigratedKeys(map), SentLinkEnds(from: old, to: new))
        try migration.migrate()
    }

    /// Unblocks changes, since the engine may send them differently with another model. Changes that are blocked
    /// because the service no longer has the row stay blocked. Changes with a stored request are excluded too, because
    /// each run repeats the request anyway.
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
        deleted = try ledger.changedKeys(.delete)
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

    private mutating func migrateLinks(of registered: [Registered]) throws {
        let rows = try db.rows("SELECT link, owner, other, op, edited FROM sync_link")
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
            try db.run(
                "INSERT OR IGNORE INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?)", table, owner,
                other, row[3], row[4])
        }
    }
}

// Replaces the keys of rows in the engine's tables, for example if integer keys become text.
extension EngineMigration {
    mutating func migrateKeys(of entity: Registered) throws {
        guard !keys.isStable(entity.old.table), let follower = MigratedKeyMap(entity.old, map, keys) else { return }
        let (ledger, number) = (EngineLedger(db), entity.number)
        let known = try ledger.keys(of: number)
        var lost = 0
        // Move to unused keys first, since the new key of a row may be the old key of another row.
        for (position, old) in known.enumerated() {
            try ledger.migrateKey(old, to: "sync moved \(position)".databaseValue, number)
        }
        for (position, old) in known.enumerated() {
            let now = "sync moved \(position)".databaseValue
            if let new = try follower.key(old) {
                if let id = follower.spelled(old) { try ledger.insertSpelledID(id, of: now, number) }
                try ledger.migrateKey(now, to: new, number)
            } else {
                lost += try ledger.changeCount(of: now, number)
                try ledger.deleteUnmappedEntries(of: now, number)
                try ledger.migrateKey(now, to: old, number)
            }
        }
        lose("entities.\(entity.old.name)", "the primary key changes, and changes are still pending", lost, "change")
        try ledger.deleteOrphanedSentValues()
        try ledger.deleteListing(of: number)
        try ledger.deleteNames(of: number)
    }
}

/// Maps the keys of an entity's rows in the engine's tables to their keys after a migration.
struct MigratedKeyMap {
    private let old: CompiledEntity
    private let new: CompiledEntity
    private let map: MigrationMap
    private let keys: MigratedKeys

    /// Returns nil if the new model does not have the entity.
    init?(_ old: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys) {
        guard let new = map.successors[old.id] else { return nil }
        (self.old, self.new, self.map, self.keys) = (old, map.new.model.entities[new], map, keys)
    }

    /// Returns the new key of a row. If no new key is recorded, converts the old key to the new type. Returns nil if
    /// the old key cannot be converted, for example because another attribute is the primary key now.
    func key(_ key: DatabaseValue) throws -> DatabaseValue? {
        if key.isNull || keys.isStable(old.table) { return key }
        if let row = keys.row(of: key, in: old.table) { return row.key }
        guard let types else { return nil }
        return MigratedValue.convert(key, from: types.old, to: types.new)
    }

    /// Returns an old key as a remote ID in JSON text. Nil for a temporary key, and unless the same attribute is the
    /// primary key with another type.
    func spelled(_ key: DatabaseValue) -> String? {
        guard let types, types.old != types.new, !TemporaryKey.isLocal(key) else { return nil }
        return RowKey(key)?.recordKey(.single(types.old)).json.text
    }

    private var types: (old: AttributeType, new: AttributeType)? {
        guard let before = old.keySlot, let after = new.keySlot, map.slot(after, of: new) == before else { return nil }
        return (map.old.model[old.table].attributes[before].type, map.new.model[new.table].attributes[after].type)
    }
}
