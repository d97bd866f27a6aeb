import GRDB
import SyncCore
import SyncStore

// Migrates edits, sent values and log entries to the names and types that their columns and lists have in the new
// model.
extension EngineMigration {
    mutating func migrateFields(of entity: Registered) throws {
        let fields = MigratedFields(from: entity.old, to: entity.new, map, keys, senders).all
        let names = Dictionary(fields.map { ($0.old, $0) }) { first, _ in first }
        let table = map.old[entity.old.table]
        let rows = try FormerRows(of: table, named: renamed[table.name] ?? table.name, db)
        for field in fields { try logNewRows(without: field, of: entity, rows) }
        try EngineLedger(db).migrateFields(of: entity.number, names) {
            try lose($0, $1, base: $2, local: rows.value(of: $0.column, $1), of: entity)
        }
        try migrateLog(of: entity, names)
        try migrateColumns(of: entity, fields)
    }

    /// Reports and logs the loss of an edit that does not fit the new model. Ignores edits of deleted rows.
    private mutating func lose(
        _ field: MigratedFields.Field, _ key: DatabaseValue, base: DatabaseValue, local: DatabaseValue,
        of entity: Registered
    ) throws {
        if isDeleted(key, of: entity) { return }
        lose("entities.\(entity.old.name).\(field.path)", "an edit is still pending", 1, "edit")
        try ConflictLog(db).addRemovedField(field.old, key, entity.number, base: base, local: local)
    }

    /// Logs the values of new rows that do not fit the new model. They have no base values, and the migration of the
    /// rows reports their loss.
    private func logNewRows(
        without field: MigratedFields.Field, of entity: Registered, _ rows: FormerRows
    ) throws {
        guard field.column != TableLayout.entityColumn else { return }
        for (key, value) in try rows.newValues(of: field, entity.number) {
            if try field.new != nil && field.converted(value) != nil { continue }
            try ConflictLog(db).addRemovedField(field.old, key, entity.number, base: .null, local: value)
        }
    }

    /// Migrates log entries to the new field names, and converts their values where possible. Closes open conflicts of
    /// fields that are not in the new model.
    private func migrateLog(of entity: Registered, _ names: [String: MigratedFields.Field]) throws {
        let logged = try db.rows("SELECT id, field, base, local, remote FROM sync_conflict WHERE e = ?", entity.number)
        for row in logged {
            guard let field = try names[row.decode(atIndex: 1)] else { continue }
            if let name = field.new {
                let values = try (2...4).map { try field.converted(row[$0]) ?? row[$0] }
                try db.run(
                    "UPDATE sync_conflict SET field = ?, base = ?, local = ?, remote = ? WHERE id = ?", name, values[0],
                    values[1], values[2], row[0])
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

/// The stored rows of an entity as they were before a migration. If an app migrated its own tables, columns may be
/// missing.
private struct FormerRows {
    private let db: Database
    private let table: String
    private let key: String
    private let columns: Set<String>

    /// `name` is the current name of the table.
    init(of table: TableLayout, named name: String, _ db: Database) throws {
        (self.db, self.table, key) = (db, name.quoted, table.keySQL)
        columns = try db.tableExists(name) ? Set(db.columns(in: name).map(\.name)) : []
    }

    /// Returns the value of a column; NULL if the row or the column is not stored.
    func value(of column: String, _ key: DatabaseValue) throws -> DatabaseValue {
        guard columns.contains(column) else { return .null }
        return try db.value("SELECT \(column.quoted) FROM \(table) WHERE \(self.key) = ?", key) ?? .null
    }

    /// Returns the values of a column that new rows have and that have no base value.
    func newValues(
        of field: MigratedFields.Field, _ number: Int
    ) throws -> [(key: DatabaseValue, value: DatabaseValue)] {
        guard columns.contains(field.column) else { return [] }
        return try EngineLedger(db).newValues(
            of: field.column, field: field.old, number, table: table, keyColumn: key)
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

    private static func attributes(from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap) -> [Field] {
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

/// The end of each many-to-many association whose rows are sent with the IDs of linked rows, in the old and the new
/// model.
struct SentLinkEnds {
    let old: [AssociationID: CompiledAssociation.End]
    let new: [AssociationID: CompiledAssociation.End]

    init(from old: SyncModel, to new: SyncModel) {
        self.old = Self.ends(in: old)
        self.new = Self.ends(in: new)
    }

    /// Returns the association of the new model that succeeds an old one and is sent with the same rows; nil if there
    /// is none.
    func successor(of link: CompiledAssociation, _ map: MigrationMap) -> CompiledAssociation? {
        for successor in map.new.model.links where successor.storage == .joinTable {
            guard let source = map.links[successor.id]?.first(where: { $0.link == link.id }),
                let (before, after) = old[link.id].flatMap({ before in new[successor.id].map { (before, $0) } }),
                after == (source.isFlipped ? before.other : before)
            else { continue }
            return successor
        }
        return nil
    }

    private static func ends(in model: SyncModel) -> [AssociationID: CompiledAssociation.End] {
        var ends: [AssociationID: CompiledAssociation.End] = [:]
        for entity in model.compiled.entities {
            guard let shape = try? OutgoingSchema(entity, of: model) else { continue }
            for member in shape.members {
                if case .joinRows(let link, let end) = member.field { ends[link] = end }
            }
        }
        return ends
    }
}
