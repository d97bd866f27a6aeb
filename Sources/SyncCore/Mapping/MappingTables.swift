/// What mapping asks of a model at every value, looked up once, by number.
struct MappingTables: Sendable {
    /// By entity: its relationships, in their order.
    let relationships: [[RelationshipMapping]]
    /// By entity: its tree. By tree and slot: the attribute's type, and whether it cannot be null.
    let trees: [Int]
    let types: [[AttributeType]]
    let isRequired: [[Bool]]
    /// By tree: the slot of the key that all its rows share; -1 if they do not.
    let keySlots: [Int]
    /// By tree and slot; empty for a tree of attributes that have none.
    let transformers: [[AttributeTransformer?]]
    let hasTransformers: [Bool]

    init(_ model: CompiledModel, transformers: [String: AttributeTransformer]) {
        relationships = model.entities.map { entity in
            entity.relationships.map { RelationshipMapping($0, of: model) }
        }
        trees = model.entities.map(\.tree)
        types = model.trees.map { $0.attributes.map(\.type) }
        isRequired = model.trees.map { $0.attributes.map { !$0.isOptional } }
        keySlots = model.trees.map { $0.keySlot ?? -1 }
        self.transformers = model.trees.map { tree in
            let found = tree.attributes.map { $0.transformer.flatMap { transformers[$0] } }
            return found.allSatisfy { $0 == nil } ? [] : found
        }
        hasTransformers = self.transformers.map { !$0.isEmpty }
    }

    /// The most attributes that a record can have.
    var maximumWidth: Int { types.map(\.count).max() ?? 0 }
}
