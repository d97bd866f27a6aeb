extension AttributeNaming {
    /// The reserved word that an attribute's name is the prefixed form of.
    static func reservedWord(of attribute: String, _ entity: CompiledEntity, _ model: CompiledModel) -> String? {
        let lineage = lineage(entity, model)
        return reservedWords.first { prefixedNames(of: $0, lineage).contains(attribute) }
    }

    /// The names of an entity and its ancestors, the nearest first.
    static func lineage(_ entity: CompiledEntity, _ model: CompiledModel) -> [String] {
        sequence(first: entity) { $0.parent.map { model.entities[$0] } }.map(\.name)
    }
}
