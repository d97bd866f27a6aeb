/// The keys that records are exported under, for forms that name them once, before the first record.
package enum ExportKeys {
    /// The keys of an entity's records in their order, those of its sub-entities behind them, and which of them have numbers.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package static func keys(
        of name: String, in model: SyncModel, _ options: ExportOptions
    ) throws -> [(name: String, isNumeric: Bool)] {
        let entity = try model.compiled.entity(named: name)
        var keys: [(name: String, isNumeric: Bool)] = []
        var known: Set<String> = []
        for id in [entity.id] + entity.family where !model.compiled.entities[id].isAbstract {
            let key = ExportShapeKey(entity: id, destination: entity.id, isNested: false)
            for field in try ExportShapeBuilder.shape(key, of: model, options).fields
            where known.insert(field.key).inserted {
                var isNumeric = false
                if case .attribute(let slot, nil, _) = field.content {
                    isNumeric = model.compiled[entity.table].attributes[slot].type.isNumeric
                }
                keys.append((field.key, isNumeric))
            }
        }
        return keys
    }
}

extension AttributeType {
    /// Whether its values are numbers.
    package var isNumeric: Bool { self == .integer || self == .double || self == .decimal }
}
