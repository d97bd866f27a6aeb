/// What mapping asks of a model at every value, looked up once, by number.
struct MappingTables: Sendable {
    /// By entity: its relationships, in their order.
    let relationships: [[RelationshipMapping]]
    /// By entity: its table.
    let tableOf: [TableID]
    /// By table and slot: the attribute's type, and whether it cannot be null.
    let types: [[AttributeType]]
    let isRequired: [[Bool]]
    /// By table: the slot of the key that all its rows share; -1 if they do not.
    let keySlots: [Int]
    /// By table and slot; empty for a table of attributes that have none.
    let conversions: [[ValueConversion?]]
    let hasConversions: [Bool]
    let kinds: EntityKinds

    init(_ source: SyncModel) {
        let model = source.compiled
        relationships = model.entities.map { entity in
            entity.relationships.map { RelationshipMapping($0, of: model) }
        }
        tableOf = model.entities.map(\.table)
        types = model.trees.map { $0.attributes.map(\.type) }
        isRequired = model.trees.map { $0.attributes.map { !$0.isOptional } }
        keySlots = model.trees.map { $0.keySlot ?? -1 }
        conversions = model.trees.map { tree in
            let found = tree.attributes.map(source.conversion(of:))
            return found.allSatisfy { $0 == nil } ? [] : found
        }
        hasConversions = conversions.map { !$0.isEmpty }
        kinds = EntityKinds(model)
    }

    /// The most attributes that a record can have.
    var maximumWidth: Int { types.map(\.count).max() ?? 0 }
}
