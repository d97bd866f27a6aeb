import GRDB
import SyncCore
import SyncStore

/// What the rows of an entity are known by after a migration.
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

    /// Nil for an entity that is not in the new model.
    init?(_ old: CompiledEntity, _ map: MigrationMap, _ keys: MigratedKeys) {
        guard let new = map.successors[old.id] else { return nil }
        self.init(old, map.new.model.entities[new], map, keys)
    }

    /// Nil for a row that is told apart by something else now. One that is not stored is found by the value of its key.
    func key(_ key: DatabaseValue) throws -> DatabaseValue? {
        if key.isNull || keys.isStable(old.table) { return key }
        if let place = keys.place(of: key, in: old.table) { return place.key }
        guard let types else { return nil }
        return MigratedValue.convert(key, from: types.old, to: types.new)
    }

    /// How the service goes on to spell the id of a row, as JSON; nil where ours is the same.
    func spelled(_ key: DatabaseValue) -> String? {
        guard let types, types.old != types.new, !TemporaryKey.isLocal(key) else { return nil }
        return RowKey(key)?.recordKey(.single(types.old)).json.text
    }

    private var types: (old: AttributeType, new: AttributeType)? {
        guard let before = old.keySlot, let after = new.keySlot, map.slot(after, of: new) == before else { return nil }
        return (map.old.model[old.table].attributes[before].type, map.new.model[new.table].attributes[after].type)
    }
}
