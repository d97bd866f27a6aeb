extension KeyType {
    /// What the keys of an entity are; nil for a keyless one.
    init?(of entity: CompiledEntity, _ entities: [CompiledEntity], _ trees: [EntityTree]) {
        let attributes = trees[entity.table.index].attributes
        if let slot = entity.keySlot {
            self = .single(attributes[slot].type)
        } else if let key = entity.compositeKey {
            self = .composite(
                key.parts.compactMap { part in
                    switch part {
                    case .attribute(let slot): .single(attributes[slot].type)
                    case .relationship(let index):
                        KeyType(of: entities[entity.relationships[index].destination], entities, trees)
                    }
                })
        } else {
            return nil
        }
    }
}
