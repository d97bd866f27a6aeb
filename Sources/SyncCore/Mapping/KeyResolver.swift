/// Finds what a JSON key of an entity fills, by the rules of naming. Asked once per key and entity.
struct KeyResolver {
    let model: CompiledModel
    let entity: CompiledEntity

    /// The targets of a key at the end of `path`. `nested` gives the table for an object that dotted keys walk into.
    func targets(of key: String, path: [String], nested: ([String], [Int]) -> Int) -> [KeyTable.Target] {
        let full = (path + [key]).joined(separator: ".")
        var targets: [KeyTable.Target] = []
        if path.isEmpty {
            if let found = AttributeNaming.attribute(forKey: key, in: entity, of: model) {
                targets.append(.attribute(slot: found.slot, strength: found.strength))
            }
        } else {
            for slot in entity.slots where attribute(slot).remoteKey == full {
                targets.append(.attribute(slot: slot, strength: 0))
            }
        }
        for (index, compiled) in entity.relationships.enumerated() {
            let relationship = compiled.relationship
            if let strength = AttributeNaming.objectKeys(for: relationship).firstIndex(of: full) {
                targets.append(.relationship(index, strength: strength))
            } else if path.isEmpty, let strength = AttributeNaming.idKeys(for: relationship).firstIndex(of: full) {
                targets.append(.ids(index, strength: strength))
            }
        }
        let below = entity.slots.filter { attribute($0).remoteKey?.hasPrefix(full + ".") ?? false }
        let reaches = entity.relationships.contains { $0.relationship.remoteKey?.hasPrefix(full + ".") ?? false }
        if !below.isEmpty || reaches { targets.append(.nested(table: nested(path + [key], below))) }
        return targets
    }

    private func attribute(_ slot: Int) -> Attribute { model.trees[entity.tree].attributes[slot] }
}
