import GRDB
import SyncCore
import SyncStore

/// The fields of an entity in a migration: columns and many-to-many lists.
struct MigratedFields {
    struct Field {
        /// The field name in the engine's tables before the migration.
        let old: String
        /// The new field name; nil if the new model does not have the field.
        let new: String?
        /// The column or join table of the field.
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

    /// Returns the fields of the attributes of an entity and its subentities.
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

    /// Returns the field of the entity column.
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
