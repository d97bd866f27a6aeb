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

    /// - Parameter swiftTypes: Types whose values the rows are read as, where the model does not know them.
    init(_ source: SyncModel, checking swiftTypes: [any SyncEntity.Type] = []) {
        let model = source.compiled
        let checks = Self.checks(of: swiftTypes, in: model)
        relationships = model.entities.map { entity in
            entity.relationships.map { RelationshipMapping($0, of: model) }
        }
        tableOf = model.entities.map(\.table)
        types = model.trees.map { $0.attributes.map(\.type) }
        isRequired = model.trees.map { $0.attributes.map { !$0.isOptional } }
        keySlots = model.trees.map { $0.keySlot ?? -1 }
        conversions = model.trees.map { tree in
            let found = tree.attributes.enumerated().map { slot, attribute in
                source.mappingConversion(of: attribute, check: checks[tree.id]?[slot] ?? attribute.check)
            }
            return found.allSatisfy { $0 == nil } ? [] : found
        }
        hasConversions = conversions.map { !$0.isEmpty }
        kinds = EntityKinds(model)
    }

    /// By table and slot, what Swift types have room for.
    private static func checks(
        of types: [any SyncEntity.Type], in model: CompiledModel
    ) -> [TableID: [Int: ValueCheck]] {
        var checks: [TableID: [Int: ValueCheck]] = [:]
        for declared in types.map({ $0.syncEntity }) {
            guard let id = model.entityID(declared.name) else { continue }
            let entity = model.entities[id]
            for attribute in declared.attributes {
                guard let check = attribute.check, let slot = entity.slotByName[attribute.name],
                    model[entity.table].attributes[slot].type == attribute.type
                else { continue }
                checks[entity.table, default: [:]][slot] = check
            }
        }
        return checks
    }

    /// The most attributes that a record can have.
    var maximumWidth: Int { types.map(\.count).max() ?? 0 }
}
