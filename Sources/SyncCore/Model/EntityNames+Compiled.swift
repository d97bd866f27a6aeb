extension EntityNames {
    convenience init(_ entity: CompiledEntity, of model: CompiledModel) {
        let attributes = model[entity.table].attributes
        self.init(
            entity.slots.map { ($0, attributes[$0]) }, entity.relationships.map(\.relationship),
            lineage: AttributeNaming.lineage(entity, model), keys: model.rules(of: entity).keys,
            ignored: model.rules(of: entity).ignored)
    }
}
