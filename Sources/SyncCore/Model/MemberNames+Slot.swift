extension MemberNames {
    /// The slot of the attribute in the rows of an entity; nil if it has none of this name, or no key of one attribute.
    package func slot(in entity: CompiledEntity, of model: CompiledModel) -> Int? {
        switch self {
        case .primaryKey: entity.keySlot
        case .attribute(let name): entity.slotByName[name] ?? model.names(of: entity).attribute(forKey: name)?.slot
        }
    }
}
