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
    package static func objectKeys(for relationship: Relationship) -> [String] {
        if let remoteKey = relationship.remoteKey { return [remoteKey] }
        let snake = Inflection.snakeCase(relationship.name)
        return snake == relationship.name ? [snake] : [snake, relationship.name]
    }

    /// Where objects or ids of a relationship stand.
    package static func keys(for relationship: Relationship) -> [String] {
        objectKeys(for: relationship) + idKeys(for: relationship)
    }

    /// Where ids of a relationship stand, the strongest first. With a custom remote key only that key is read.
    package static func idKeys(for relationship: Relationship) -> [String] {
        guard relationship.remoteKey == nil else { return [] }
        let name = relationship.name
        let plural = relationship.isToMany ? "s" : ""
        var keys: [String] = []
        for name in relationship.isToMany ? [name, Inflection.singular(name)] : [name] {
            let spellings = [Inflection.snakeCase(name) + "_id", "\(name)_id", "\(name)Id", "\(name)ID"]
            for key in spellings.map({ $0 + plural }) where !keys.contains(key) {
                keys.append(key)
            }
        }
        return keys
    }
}
