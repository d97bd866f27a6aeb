/// What holds for the keys of an entity's records, from itself, its ancestors and the model.
package struct EntityRules: Sendable {
    /// How they are spelled: by the nearest of these that says so.
    package let keys: KeyCase?
    /// Those that nothing is wanted of, by all of these together.
    package let ignored: IgnoredKeys

    static func all(of entities: [SyncModel.Entity], _ compiled: [CompiledEntity], in model: KeyRules) -> [EntityRules]
    {
        compiled.map { entity in
            let line = sequence(first: entity) { $0.parent.map { compiled[$0] } }.map { entities[$0.id] }
            return EntityRules(
                keys: line.lazy.compactMap(\.keys).first ?? model.keys,
                ignored: IgnoredKeys(line.flatMap(\.ignore) + model.ignore))
        }
    }
}
