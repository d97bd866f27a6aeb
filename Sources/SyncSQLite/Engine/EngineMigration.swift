import GRDB
import SyncCore
import SyncStore

/// Brings what the engine says of rows along when a store gets another model: the names of entities, the keys of rows, and
/// what was edited of them. What has no place in the new model and was not sent is a loss, as rows and values are.
struct EngineMigration {
    /// Edits that would be lost.
    struct Loss {
        let path: String
        let what: String
        let count: Int
        let unit: String
    }

    private struct Registered {
        let number: Int
        let old: CompiledEntity
        let new: CompiledEntity
    }

    private let db: Database
    private let map: MigrationMap
    private let keys: MigratedKeys
    private let senders: EngineSenders
    private(set) var losses: [Loss] = []

    init(_ db: Database, _ map: MigrationMap, _ keys: MigratedKeys, _ senders: EngineSenders) {
        self.db = db
        self.map = map
        self.keys = keys
        self.senders = senders
    }

    /// For tables that are another's, whose rows keep their keys unless these are of another type.
    static func follow(_ db: Database, from old: SyncModel, to new: SyncModel) throws {
        let map = MigrationMap(from: old, to: new)
        var migration = EngineMigration(db, map, MigratedKeys(map), EngineSenders(from: old, to: new))
        try migration.follow()
    }

    /// Works inside the transaction of the migration, in which nobody takes notice of edits.
    mutating func follow() throws {
        guard try EngineSchema.isThere(in: db) else { return }
        if let version = try Int.fetchOne(db, sql: "SELECT protocol FROM sync_engine") {
            try EngineSchema.upgrade(from: version, in: db)
        }
        try EngineSchema.createFiles(in: db)
        let names = try Row.fetchAll(db, sql: "SELECT e, name FROM sync_entity")
        var registered: [Registered] = []
        for row in names {
            let old = map.old.model.entityID(row[1]).map { map.old.model.entities[$0] }
            guard let old else { continue }
            if let new = map.successors[old.id].map({ map.new.model.entities[$0] }) {
                registered.append(Registered(number: row[0], old: old, new: new))
            } else {
                try forget(row[0], old)
            }
        }
        // Names may be exchanged.
        for entity in registered {
            try db.execute(
                sql: "UPDATE sync_entity SET name = ? WHERE e = ?", arguments: ["sync \(entity.number)", entity.number])
        }
        for entity in registered {
            try db.execute(
                sql: "UPDATE sync_entity SET name = ? WHERE e = ?", arguments: [entity.new.name, entity.number])
            try followDomains(of: entity)
            try followKeys(of: entity)
        }
        try followLinks()
    }

    /// An entity that is not in the model any more.
    private mutating func forget(_ number: Int, _ entity: CompiledEntity) throws {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_change WHERE e = ?", arguments: [number]) ?? 0
        lose(
            "entities.\(entity.name)", "it was kept in step with a service, and has changes that were not sent", count,
            "change")
        for name in EngineSchema.rowTables + ["sync_cursor", "sync_sweep", "sync_entity"] {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = ?", arguments: [number])
        }
        try db.execute(sql: "DELETE FROM sync_sent WHERE request NOT IN (SELECT id FROM sync_request)")
    }

    private mutating func lose(_ path: String, _ what: String, _ count: Int, _ unit: String) {
        if count > 0 { losses.append(Loss(path: path, what: what, count: count, unit: unit)) }
    }

    // MARK: Domains

    /// What was edited is in columns and lists of other names, and of other types.
    private mutating func followDomains(of entity: Registered) throws {
        let domains = EngineDomains(from: entity.old, to: entity.new, map, keys, senders).all
        let names = Dictionary(domains.map { ($0.old, $0) }) { first, _ in first }
        var moved: [[DatabaseValue]] = []
        for row in try Row.fetchAll(
            db, sql: "SELECT k, domain, value, edited FROM sync_base WHERE e = ?", arguments: [entity.number])
        {
            guard let domain = names[row[1]] else { continue }
            guard let name = domain.new, let value = try domain.converted(row.wholeValue(at: 2)) else {
                try lose(domain, row, of: entity)
                continue
            }
            moved.append([row[0], name.databaseValue, value, row[3]])
        }
        try db.execute(sql: "DELETE FROM sync_base WHERE e = ?", arguments: [entity.number])
        for values in moved {
            let value = ColumnValue.bound(values[2])
            try db.execute(
                sql: "INSERT OR IGNORE INTO sync_base (e, k, domain, value, edited) VALUES (?, ?, ?, \(value.sql), ?)",
                arguments: [entity.number, values[0], values[1], value.value, values[3]])
        }
        try followSent(of: entity, names)
        try followLog(of: entity, names)
        try followColumns(of: entity, domains)
    }

    /// An edit that has no place. Of a deleted row nothing was edited.
    private mutating func lose(_ domain: EngineDomains.Domain, _ row: Row, of entity: Registered) throws {
        let isDeleted = try db.finds(
            sql: "SELECT 1 FROM sync_change WHERE e = ? AND k = ? AND kind = 'delete'",
            arguments: [entity.number, row[0]])
        if isDeleted { return }
        lose("entities.\(entity.old.name).\(domain.path)", "an edit of it was not sent", 1, "edit")
        try db.execute(
            sql: """
                INSERT INTO sync_conflict (at, e, k, domain, base, winner, why)
                VALUES (?, ?, ?, ?, ?, 'remote', 'an edit that was not sent: it is not in the model any more')
                """, arguments: [SQLiteEngine.now, entity.number, row[0], domain.old, row[2]])
    }

    /// What was sent and not answered. What has no place is not waited for.
    private func followSent(of entity: Registered, _ names: [String: EngineDomains.Domain]) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT request, domain, value FROM sync_sent WHERE request IN (SELECT id FROM sync_request WHERE e = ?)
                """, arguments: [entity.number])
        for row in rows where names[row[1]] != nil {
            try db.execute(
                sql: "DELETE FROM sync_sent WHERE request = ? AND domain = ?", arguments: [row[0], row[1]])
        }
        for row in rows {
            guard let domain = names[row[1]], let name = domain.new,
                let value = try domain.converted(row.wholeValue(at: 2))
            else { continue }
            let bound = ColumnValue.bound(value)
            try db.execute(
                sql: "INSERT OR IGNORE INTO sync_sent (request, domain, value) VALUES (?, ?, \(bound.sql))",
                arguments: [row[0], name, bound.value])
        }
    }

    /// What is logged stays as it was, but under the name that its domain has now; nobody decides of what is gone.
    private func followLog(of entity: Registered, _ names: [String: EngineDomains.Domain]) throws {
        let logged = try Row.fetchAll(
            db, sql: "SELECT id, domain, base, local, remote FROM sync_conflict WHERE e = ?",
            arguments: [entity.number])
        for row in logged {
            guard let domain = names[row[1]] else { continue }
            if let name = domain.new {
                let values = try (2...4).map { try domain.converted(row.wholeValue(at: $0)) ?? row[$0] }
                try db.execute(
                    sql: "UPDATE sync_conflict SET domain = ?, base = ?, local = ?, remote = ? WHERE id = ?",
                    arguments: [name, values[0], values[1], values[2], row[0]])
            } else {
                try db.execute(
                    sql: """
                        UPDATE sync_conflict SET open = 0, winner = 'remote', why = 'not in the model any more'
                        WHERE id = ? AND open = 1
                        """, arguments: [row[0]])
            }
        }
        try db.execute(
            sql: """
                UPDATE sync_change SET state = 'ready' WHERE e = ? AND state = 'conflicted' AND NOT EXISTS (
                  SELECT 1 FROM sync_conflict AS c WHERE c.e = sync_change.e AND c.k = sync_change.k AND open = 1)
                """, arguments: [entity.number])
    }

    private func followColumns(of entity: Registered, _ domains: [EngineDomains.Domain]) throws {
        let names = Dictionary(domains.map { ($0.column, $0.newColumn) }) { first, _ in first }
        let text = try String.fetchOne(
            db, sql: "SELECT columns FROM sync_entity WHERE e = ?", arguments: [entity.number])
        let columns = (text ?? "").split(separator: "\n").map(String.init).compactMap { names[$0] ?? $0 }
        try db.execute(
            sql: "UPDATE sync_entity SET columns = ? WHERE e = ?",
            arguments: [Set(columns).sorted().joined(separator: "\n"), entity.number])
    }

    // MARK: Keys

    /// The rows have other keys, as numbers that are texts now.
    private mutating func followKeys(of entity: Registered) throws {
        guard !keys.isStable(entity.old.table) else { return }
        let follower = EngineKeys(entity.old, entity.new, map, keys)
        let selects = EngineSchema.rowTables.map { "SELECT k FROM \($0) WHERE e = \(entity.number)" }
        let known = try DatabaseValue.fetchAll(db, sql: selects.joined(separator: " UNION "))
        var lost = 0
        // By way of what no row is known by: a key may have been that of another row.
        for (place, old) in known.enumerated() {
            try move(entity.number, old, to: "sync moved \(place)".databaseValue)
        }
        for (place, old) in known.enumerated() {
            let now = "sync moved \(place)".databaseValue
            if let new = try follower.key(old) {
                if let id = follower.spelled(old) {
                    try db.execute(
                        sql: "UPDATE sync_known SET remote = coalesce(remote, ?) WHERE e = ? AND k = ?",
                        arguments: [id, entity.number, now])
                }
                try move(entity.number, now, to: new)
            } else {
                lost +=
                    try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM sync_change WHERE e = ? AND k = ?",
                        arguments: [entity.number, now])
                    ?? 0
                for name in EngineSchema.rowTables where name != "sync_conflict" {
                    try db.execute(sql: "DELETE FROM \(name) WHERE e = ? AND k = ?", arguments: [entity.number, now])
                }
                try move(entity.number, now, to: old)
            }
        }
        lose(
            "entities.\(entity.old.name)", "changes of rows that are told apart by something else now were not sent",
            lost, "change")
        try db.execute(sql: "DELETE FROM sync_sent WHERE request NOT IN (SELECT id FROM sync_request)")
        try db.execute(sql: "DELETE FROM sync_sweep WHERE e = ?", arguments: [entity.number])
        try db.execute(sql: "DELETE FROM sync_seen WHERE e = ?", arguments: [entity.number])
        try db.execute(sql: "UPDATE sync_known SET name = NULL WHERE e = ?", arguments: [entity.number])
    }

    private func move(_ number: Int, _ old: DatabaseValue, to new: DatabaseValue) throws {
        let (old, new) = (ColumnValue.bound(old), ColumnValue.bound(new))
        for name in EngineSchema.rowTables {
            try db.execute(
                sql: "UPDATE OR REPLACE \(name) SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
                arguments: [new.value, number, old.value])
        }
        try db.execute(
            sql: "UPDATE sync_alias SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
            arguments: [new.value, number, old.value])
    }

    // MARK: Links

    /// Pairs that were added or removed and not sent.
    private mutating func followLinks() throws {
        let rows = try Row.fetchAll(db, sql: "SELECT link, owner, other, op, edited FROM sync_link")
        guard !rows.isEmpty else { return }
        try db.execute(sql: "DELETE FROM sync_link")
        for row in rows {
            let found = map.old.model.links.first { link in
                if case .joinTable(let name, _, _, _, _) = map.old[link.id] { name == row[0] as String } else { false }
            }
            guard let old = found else { continue }
            let (end, name) = (senders.old[old.id] ?? .first, row[0] as String)
            let (mine, theirs) = (
                map.old.model.entities[old.side(end).entity], map.old.model.entities[old.side(end.other).entity]
            )
            guard let new = senders.successor(of: old, map), case .joinTable(let table, _, _, _, _) = map.new[new.id],
                let owner = try EngineKeys(mine, map, keys)?.key(row[1]),
                let other = try EngineKeys(theirs, map, keys)?.key(row[2])
            else {
                lose("tables.\(name)", "links that were added or removed were not sent", 1, "link")
                continue
            }
            try db.execute(
                sql: "INSERT OR IGNORE INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?)",
                arguments: [table, owner, other, row[3], row[4]])
        }
    }
}
