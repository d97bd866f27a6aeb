/// Which JSON keys the attributes and relationships of an entity are read from.
package enum AttributeNaming {
    /// Reserved in Core Data, so that models prefix them with the entity's name.
    static let reservedWords: Set<String> = ["type", "description", "signed"]

    /// The attribute a key fills, and how strongly: a lower number wins.
    ///
    /// Remote key, own name, camelCase of the key, own snake_case form, reserved word, `id`, and last a
    /// name that differs only in how it writes acronyms (`userId` for `userID`). Model order breaks ties.
    package static func attribute(
        forKey key: String, in entity: CompiledEntity, of model: CompiledModel
    ) -> (slot: Int, strength: Int)? {
        let attributes = entity.slots.map { ($0, model.trees[entity.tree].attributes[$0]) }
        let variants = Inflection.camelCaseVariants(key)
        let prefixed = prefixedNames(of: key, entity, model)
        let snake = Inflection.snakeCase(key)
        let rules: [(Attribute) -> Bool] = [
            { $0.remoteKey == key },
            { $0.name == key },
            { variants.contains($0.name) },
            { Inflection.snakeCase($0.name) == key },
            { prefixed.contains($0.name) },
            { isID($0.name) && (key == "id" || variants.contains("id")) },
            { Inflection.snakeCase($0.name) == snake && $0.name.lowercased() == key.lowercased() },
        ]
        for (strength, rule) in rules.enumerated() {
            if let found = attributes.first(where: { rule($0.1) }) { return (found.0, strength) }
        }
        return nil
    }

    /// `type` of a `User` may be called `userType`, by its own name or that of an ancestor.
    private static func prefixedNames(of key: String, _ entity: CompiledEntity, _ model: CompiledModel) -> [String] {
        guard reservedWords.contains(key) else { return [] }
        return lineage(entity, model).map { name in
            name.prefix(1).lowercased() + name.dropFirst() + key.prefix(1).uppercased() + key.dropFirst()
        }
    }

    /// Whether an attribute is called `id` in JSON.
    static func isID(_ attribute: String) -> Bool { attribute == "id" || attribute == "remoteID" }

    /// The reserved word that an attribute's name is the prefixed form of.
    static func reservedWord(of attribute: String, _ entity: CompiledEntity, _ model: CompiledModel) -> String? {
        reservedWords.first { prefixedNames(of: $0, entity, model).contains(attribute) }
    }

    private static func lineage(_ entity: CompiledEntity, _ model: CompiledModel) -> [String] {
        [entity.name] + (entity.parent.map { lineage(model.entities[$0], model) } ?? [])
    }

    /// Where objects of a relationship stand, the strongest first.
    package static func objectKeys(for relationship: Relationship) -> [String] {
        if let remoteKey = relationship.remoteKey { return [remoteKey] }
        let snake = Inflection.snakeCase(relationship.name)
        return snake == relationship.name ? [snake] : [snake, relationship.name]
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
