import GRDB
import SyncCore
import SyncStore

/// What the domains of an entity are after a migration: columns, and lists of pairs.
struct MigratedFields {
    struct Domain {
        /// What the engine's tables call it.
        let old: String
        /// Nil for one that has no place any more.
        let new: String?
        /// The column or join table that it is in.
        let column: String
        let newColumn: String?
        /// Where it is in the old model.
        let path: String
        /// A value as it is then; nil for one that does not fit.
        let converted: (DatabaseValue) throws -> DatabaseValue?

        /// What the column held when its row was deleted. See ``DeletedValues``.
        var whenDeleted: Domain {
            Domain(
                old: DeletedValues.domain(old), new: new.map(DeletedValues.domain), column: column,
                newColumn: newColumn,
                path: path,
                converted: converted)
        }
    }

    let all: [Domain]

    init(
        from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys,
        _ senders: SendingEnds
    ) {
        all =
            Self.attributes(from: old, to: new, map) + Self.foreignKeys(from: old, to: new, map, keys)
            + Self.lists(of: old, map, keys, senders) + [Self.kind(map)]
    }

    /// Of the entity and those that inherit from it.
    private static func attributes(
        from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap
    ) -> [Domain] {
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
            return Domain(
                old: before.columns[slot], new: name, column: before.columns[slot], newColumn: name,
                path: "attributes.\(attribute.name)"
            ) { value in type.flatMap { MigratedValue.convert(value, from: attribute.type, to: $0) } }
        }
    }

    private static func foreignKeys(
        from old: CompiledEntity, to new: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys
    ) -> [Domain] {
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
            return Domain(
                old: column, new: name, column: column, newColumn: name,
                path: "relationships.\(link.first.relationship?.name ?? column)"
            ) { value in try follower?.key(value) }
        }
    }

    private static func lists(
        of old: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys, _ senders: SendingEnds
    ) -> [Domain] {
        map.old.model.links.compactMap { link in
            guard let end = senders.old[link.id], link.side(end).table == old.table,
                case .joinTable(let table, _, _, _, _) = map.old[link.id]
            else { return nil }
            // That of a list that is not ordered any more is dropped when it is looked at.
            var (name, newTable): (String?, String?)
            if let successor = senders.successor(of: link, map), let end = senders.new[successor.id],
                case .joinTable(let table, _, _, _, _) = map.new[successor.id]
            {
                (name, newTable) = ("\(table) \(end)", table)
            }
            let follower = MigratedKeyMap(map.old.model.entities[link.side(end.other).entity], map, keys)
            return Domain(
                old: "\(table) \(end)", new: name, column: table, newColumn: newTable,
                path: "relationships.\(link.side(end).relationship?.name ?? table)"
            ) { value in LinkedRowList.text(try LinkedRowList.keys(value).compactMap { try follower?.key($0) }) }
        }
    }

    /// Of which entity a row is.
    private static func kind(_ map: MigrationMap) -> Domain {
        let column = TableLayout.entityColumn
        return Domain(old: column, new: column, column: column, newColumn: column, path: "discriminator") { value in
            guard let name = String.fromDatabaseValue(value), let old = map.old.model.entityID(name) else {
                return value
            }
            return map.successors[old].map { map.new.model.entities[$0].name.databaseValue }
        }
    }
}
