/// Finds what a JSON key of an entity fills, by the rules of naming. Asked once per key and entity.
struct KeyResolver {
    let names: EntityNames
    /// Nil in a model without kinds.
    var kinds: KindKeys?

    /// The targets of a key at the end of `path`. `nested` gives the table for an object that dotted keys walk into.
    func targets(of key: String, path: [String], nested: ([String], [Int]) -> Int) -> [KeyTable.Target] {
        let full = RemoteKeyPath.text(path + [key])
        var targets: [KeyTable.Target]
        if path.isEmpty {
            targets = names.attribute(forKey: key).map { [.attribute(slot: $0.slot, strength: $0.strength)] } ?? []
        } else {
            targets = names.slots(withRemoteKey: full).map { .attribute(slot: $0, strength: 0) }
        }
        for found in path.isEmpty ? names.relationships(readFrom: key) : names.relationships(readFromPath: full) {
            if !found.isForIDs {
                targets.append(.relationship(found.index, strength: found.strength))
            } else if path.isEmpty {
                targets.append(.ids(found.index, strength: found.strength))
            }
        }
        if let below = names.slots(below: full) { targets.append(.nested(table: nested(path + [key], below))) }
        if let kinds {
            let name = (path + [key]).joined(separator: ".")
            targets += kinds.targets(of: name)
            if targets.isEmpty, kinds.isAbove(name) {
                targets = [.nested(table: nested(path + [key], []))]
            }
        }
        if targets.isEmpty, names.ignores(key, at: path) { targets.append(.ignored) }
        return targets
    }
}
