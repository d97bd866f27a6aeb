import GRDB
import SyncCore
import SyncStore

// Migrates edits, sent values and log entries to the names and types that their columns and lists have in the new
// model.
extension EngineMigration {
    mutating func migrateFields(of entity: Registered) throws {
        let fields = MigratedFields(from: entity.old, to: entity.new, map, keys, senders).all
        let names = Dictionary(fields.map { ($0.old, $0) }) { first, _ in first }
        var moved: [[DatabaseValue]] = []
        for row in try EngineLedger(db).allBases(of: entity.number) {
            guard let field = try names[row.decode(atIndex: 1)] else { continue }
            guard let name = field.new, let value = try field.converted(row.wholeValue(at: 2)) else {
                try lose(field, row, of: entity)
                continue
            }
            // The values that columns had when their row was deleted are only logged.
            let held = try field.converted(row.wholeValue(at: 6)) ?? .null
            moved.append([row[0], name.databaseValue, value, row[3], row[4], row[5], held])
        }
        try EngineLedger(db).replaceBases(of: entity.number, with: moved)
        try migrateUnreadable(of: entity, names)
        try migrateSent(of: entity, names)
        try migrateTried(of: entity, names)
        try migrateTimes(of: entity, names)
        try migrateLog(of: entity, names)
        try migrateColumns(of: entity, fields)
    }

    /// Reports and logs the loss of an edit that does not fit the new model. Ignores edits of deleted rows.
    private mutating func lose(_ field: MigratedFields.Field, _ row: Row, of entity: Registered) throws {
        if isDeleted(row[0], of: entity) { return }
        lose("entities.\(entity.old.name).\(field.path)", "an edit is still pending", 1, "edit")
        try ConflictLog(db).addRemovedField(field.old, row[0], entity.number, base: row[2])
    }

    /// Migrates remote values that the old model could not read. The next pull determines whether the new model can
    /// read them.
    private func migrateUnreadable(of entity: Registered, _ names: [String: MigratedFields.Field]) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT k, field, value FROM sync_unreadable WHERE e = ?", arguments: [entity.number])
        try db.execute(sql: "DELETE FROM sync_unreadable WHERE e = ?", arguments: [entity.number])
        for row in rows {
            guard let name = try names[row.decode(atIndex: 1)]?.new else { continue }
            try db.execute(
                sql: "INSERT OR IGNORE INTO sync_unreadable (e, k, field, value) VALUES (?, ?, ?, ?)",
                arguments: [entity.number, row[0], name, row[2]])
        }
    }

    /// Migrates the values of stored requests. Values that do not fit the new model are deleted.
    private func migrateSent(of entity: Registered, _ names: [String: MigratedFields.Field]) throws {
        let ledger = EngineLedger(db)
        let sent = try ledger.sentFields(of: entity.number).filter { names[$0.field.name] != nil }
        for (request, field) in sent { try ledger.deleteSentField(field.name, ofRequest: request) }
        for (request, field) in sent {
            guard let new = names[field.name], let name = new.new, let value = try new.converted(field.value) else {
                continue
            }
            try ledger.insertSentField(SentField(name: name, value: value), ofRequest: request)
        }
    }

    /// Migrates the sent values of deleted requests. The service may have carried out such a request.
    private func migrateTried(of entity: Registered, _ names: [String: MigratedFields.Field]) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, field, value FROM sync_tried WHERE e = ?", arguments: [entity.number])
        for row in rows {
            guard let field = try names[row.decode(atIndex: 1)] else { continue }
            if let name = field.new, let value = try field.converted(row.wholeValue(at: 2)) {
                let bound = ColumnValue.bound(value)
                try db.execute(
                    sql: "UPDATE sync_tried SET field = ?, value = \(bound.sql) WHERE id = ?",
                    arguments: [name, bound.value, row[0]])
            } else {
                try db.execute(sql: "DELETE FROM sync_tried WHERE id = ?", arguments: [row[0]])
            }
        }
    }

    /// Migrates the times at which columns of new rows were set.
    private func migrateTimes(of entity: Registered, _ names: [String: MigratedFields.Field]) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT k, field, edited, is_restored FROM sync_made WHERE e = ?", arguments: [entity.number])
        try db.execute(sql: "DELETE FROM sync_made WHERE e = ?", arguments: [entity.number])
        for row in rows {
            let field = try row.decode(String.self, atIndex: 1)
            guard let name = names[field].map(\.new) ?? field else { continue }
            try db.execute(
                sql: "INSERT OR IGNORE INTO sync_made (e, k, field, edited, is_restored) VALUES (?, ?, ?, ?, ?)",
                arguments: [entity.number, row[0], name, row[2], row[3]])
        }
    }

    /// Migrates log entries to the new field names, and converts their values where possible. Closes open conflicts of
    /// fields that are not in the new model.
    private func migrateLog(of entity: Registered, _ names: [String: MigratedFields.Field]) throws {
        let logged = try Row.fetchAll(
            db, sql: "SELECT id, field, base, local, remote FROM sync_conflict WHERE e = ?",
            arguments: [entity.number])
        for row in logged {
            guard let field = try names[row.decode(atIndex: 1)] else { continue }
            if let name = field.new {
                let values = try (2...4).map { try field.converted(row.wholeValue(at: $0)) ?? row[$0] }
                try db.execute(
                    sql: "UPDATE sync_conflict SET field = ?, base = ?, local = ?, remote = ? WHERE id = ?",
                    arguments: [name, values[0], values[1], values[2], row[0]])
            } else {
                try ConflictLog(db).closeRemovedField(row[0])
            }
        }
        try EngineLedger(db).endConflicts(of: entity.number)
    }

    private func migrateColumns(of entity: Registered, _ fields: [MigratedFields.Field]) throws {
        let names = Dictionary(fields.map { ($0.column, $0.newColumn) }) { first, _ in first }
        let ledger = EngineLedger(db)
        let columns = PulledColumn.all(in: try ledger.pulledColumns(of: entity.number)).compactMap {
            column -> PulledColumn? in
            guard let name = names[column.name] ?? column.name else { return nil }
            var column = column
            column.name = name
            return column
        }
        try ledger.setPulledColumns(PulledColumn.text(columns.sorted { $0.name < $1.name }), of: entity.number)
    }
}

/// The fields of an entity in a migration: columns and many-to-many lists.
struct MigratedFields {
    struct Field {
        /// The field name in the engine's tables before the migration.
        let old: String
        /// The new field name; nil if the new model does not have the field.
        let new: String?
        let column: String
        let newColumn: String?
        /// The path of the field in the old model.
        let path: String
        /// Converts a value to the new type; returns nil if the value cannot be converted.
        let converted: (DatabaseValue) throws -> DatabaseValue?
    }

    let all: [Field]

    init(
        from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys,
        _ senders: SentLinkEnds
    ) {
        all =
            Self.attributes(from: old, to: new, map) + Self.foreignKeys(from: old, to: new, map, keys)
            + Self.lists(of: old, map, keys, senders) + [Self.kind(map)]
    }

    private static func attributes(
        from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap
    ) -> [Field] {
        var successors: [Int: Int] = [:]
        for entity in new.family.map({ map.new.model.entities[$0] }) {
            for slot in entity.slots {
                if let before = map.slot(slot, of: entity) { successors[before] = slot }
            }
        }
        let (before, after) = (map.old[old.table], map.new[new.table])
        let slots = Set(old.family.flatMap { map.old.model.entities[$0].slots })
        return slots.sorted().map { slot in
            let attribute = map.old.model[old.table].attributes[slot]
            let successor = successors[slot]
            let type = successor.map { map.new.model[new.table].attributes[$0].type }
            let name = successor.map { after.columns[$0] }
            return Field(
                old: before.columns[slot], new: name, column: before.columns[slot], newColumn: name,
                path: "attributes.\(attribute.name)"
            ) { value in type.flatMap { MigratedValue.convert(value, from: attribute.type, to: $0) } }
        }
    }

    private static func foreignKeys(
        from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys
    ) -> [Field] {
        map.old.model.links.compactMap { link in
            guard link.first.table == old.table, case .foreignKey(_, let column, _) = map.old[link.id] else {
                return nil
            }
            var name: String?
            for successor in map.new.model.links where successor.first.table == new.table {
                guard case .foreignKey(_, let column, _) = map.new[successor.id],
                    map.links[successor.id]?.contains(where: { $0.link == link.id && !$0.isFlipped }) == true
                else { continue }
                name = column
            }
            let follower = MigratedKeyMap(map.old.model.entities[link.second.entity], map, keys)
            return Field(
                old: column, new: name, column: column, newColumn: name,
                path: "relationships.\(link.first.relationship?.name ?? column)"
            ) { value in try follower?.key(value) }
        }
    }

    private static func lists(
        of old: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys, _ senders: SentLinkEnds
    ) -> [Field] {
        map.old.model.links.compactMap { link in
            guard let end = senders.old[link.id], link.side(end).table == old.table,
                case .joinTable(let table, _, _, _, _) = map.old[link.id]
            else { return nil }
            // If the list is no longer ordered, the next push deletes its base order.
            var (name, newTable): (String?, String?)
            if let successor = senders.successor(of: link, map), let end = senders.new[successor.id],
                case .joinTable(let table, _, _, _, _) = map.new[successor.id]
            {
                (name, newTable) = ("\(table) \(end)", table)
            }
            let follower = MigratedKeyMap(map.old.model.entities[link.side(end.other).entity], map, keys)
            return Field(
                old: "\(table) \(end)", new: name, column: table, newColumn: newTable,
                path: "relationships.\(link.side(end).relationship?.name ?? table)"
            ) { value in LinkedRowList.text(try LinkedRowList.keys(value).compactMap { try follower?.key($0) }) }
        }
    }

    private static func kind(_ map: MigrationMap) -> Field {
        let column = TableLayout.entityColumn
        return Field(old: column, new: column, column: column, newColumn: column, path: "discriminator") { value in
            guard let name = String.fromDatabaseValue(value), let old = map.old.model.entityID(name) else {
                return value
            }
            return map.successors[old].map { map.new.model.entities[$0].name.databaseValue }
        }
    }
}
