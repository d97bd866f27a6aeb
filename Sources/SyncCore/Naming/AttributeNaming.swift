/// Which JSON keys the attributes and relationships of an entity are read from.
package enum AttributeNaming {
    /// Reserved in Core Data, so that models prefix them with the entity's name.
    static let reservedWords: Set<String> = ["type", "description", "signed"]

    /// `type` of a `User` may be called `userType`, by its own name or that of an ancestor.
    static func prefixedNames(of key: String, _ lineage: [String]) -> [String] {
        guard reservedWords.contains(key) else { return [] }
        return lineage.map { name in
            name.prefix(1).lowercased() + name.dropFirst() + key.prefix(1).uppercased() + key.dropFirst()
        }
    }

    /// Whether an attribute is called `id` in JSON.
    static func isID(_ attribute: String) -> Bool { attribute == "id" || attribute == "remoteID" }

    /// Where objects of a relationship stand, the strongest first.
    ///
    /// - Parameter keys: How the keys of the entity are spelled, if the model says.
    package static func objectKeys(for relationship: SyncModel.Relationship, _ keys: KeyCase? = nil) -> [String] {
        if let remoteKey = relationship.remoteKey { return [remoteKey] }
        let name = relationship.name
        if keys == .exact { return [name] }
        return unique([keys?.key(for: name), Inflection.snakeCase(name), name].compactMap(\.self))
    }

    /// Where objects or ids of a relationship stand.
    package static func keys(for relationship: SyncModel.Relationship, _ keys: KeyCase? = nil) -> [String] {
        objectKeys(for: relationship, keys) + idKeys(for: relationship, keys)
    }

    private static func unique(_ keys: [String]) -> [String] {
        keys.enumerated().filter { !keys[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Where ids of a relationship stand, the strongest first. With a custom remote key only that key is read.
    package static func idKeys(for relationship: SyncModel.Relationship, _ keyCase: KeyCase? = nil) -> [String] {
        guard relationship.remoteKey == nil else { return [] }
        let name = relationship.name
        let plural = relationship.isToMany ? "s" : ""
        var keys: [String] = []
        for name in relationship.isToMany ? [name, Inflection.singular(name)] : [name] {
            let snake = keyCase == .exact ? [] : [Inflection.snakeCase(name) + "_id"]
            let spellings = idSpellings(name, keyCase) + snake + ["\(name)_id", "\(name)Id", "\(name)ID"]
            for key in spellings.map({ $0 + plural }) where !keys.contains(key) {
                keys.append(key)
            }
        }
        return keys
    }

    /// What the rule of a model calls the id of one row.
    private static func idSpellings(_ name: String, _ keys: KeyCase?) -> [String] {
        guard let keys else { return [] }
        let key = keys.key(for: name)
        switch keys {
        case .snake: return [key + "_id"]
        case .kebab: return [key + "-id"]
        case .camel, .pascal: return [key + "Id", key + "ID"]
        case .exact: return []
        }
    }
}
