import GRDB
import SyncCore
import SyncStore

/// Maps the keys of an entity's rows in the engine's tables to their keys after a migration.
struct MigratedKeyMap {
    private let old: CompiledEntity
    private let new: CompiledEntity
    private let map: MigrationMap
    private let keys: MigratedKeys

    init(_ old: CompiledEntity, _ new: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys) {
        self.old = old
        self.new = new
        self.map = map
        self.keys = keys
    }

    /// Returns nil if the new model does not have the entity.
    init?(_ old: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys) {
        guard let new = map.successors[old.id] else { return nil }
        self.init(old, map.new.model.entities[new], map, keys)
    }

    /// Returns the new key of a row. If no new key is recorded, converts the old key to the new type.
    ///
    /// Returns nil if the old key cannot be converted, for example because another attribute is the primary key now.
    func key(_ key: DatabaseValue) throws -> DatabaseValue? {
        if key.isNull || keys.isStable(old.table) { return key }
        if let position = keys.row(of: key, in: old.table) { return position.key }
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
