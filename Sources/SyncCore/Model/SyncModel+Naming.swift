extension SyncModel {
    /// The key an attribute is exported under.
    ///
    /// A custom remote key as it is; `id` for `id` and `remoteID`; a reserved word without the entity's name
    /// (`userType` → `type`), unless that key fills another attribute; else the name, spelled.
    ///
    /// - Parameters:
    ///   - keyCase: How it is spelled; nil for as the entity or the model says, and for snake_case if they do not. A name
    ///     is turned into camelCase only where the model says that keys are: `firstName` would not fill an attribute
    ///     called `first_name` elsewhere.
    ///   - nested: Whether the row is exported inside its owner's nested attributes, where `destroy` becomes
    ///     `_destroy`.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`.
    public func remoteKey(
        forAttribute name: String, of entity: String, case keyCase: KeyCase? = nil, nested: Bool = false
    ) throws -> String {
        let compiled = try self.compiled.entity(named: entity)
        guard let slot = compiled.slotByName[name] else {
            throw SyncError(.unknownAttribute, "\(entity) has no attribute '\(name)'", entity: entity)
        }
        let attribute = self.compiled[compiled.table].attributes[slot]
        if let remoteKey = attribute.remoteKey { return remoteKey }
        if nested, name == "destroy" { return "_destroy" }
        let rule = self.compiled.rules(of: compiled).keys
        let spelling = keyCase ?? rule ?? .snake
        let short =
            AttributeNaming.isID(name) ? "id" : AttributeNaming.reservedWord(of: name, compiled, self.compiled)
        if let short, self.compiled.names(of: compiled).attribute(forKey: short)?.slot == slot {
            return spelling.key(for: short)
        }
        return spelling == .camel && rule != .camel ? name : spelling.key(for: name)
    }

    /// The attribute a JSON key fills; nil if there is none.
    public func attribute(forKey key: String, in entity: String) throws -> String? {
        let compiled = try self.compiled.entity(named: entity)
        let slot = self.compiled.names(of: compiled).attribute(forKey: key)?.slot
        return slot.map { self.compiled[compiled.table].attributes[$0].name }
    }

    /// The key attribute of an entity and what it is called in JSON; nil for a keyless entity, and one whose key has
    /// several parts (see ``primaryKeyParts(of:)``).
    public func primaryKey(of entity: String) throws -> (local: String, remote: String, attribute: SyncModel.Attribute)?
    {
        let compiled = try self.compiled.entity(named: entity)
        guard let slot = compiled.keySlot else { return nil }
        let attribute = self.compiled[compiled.table].attributes[slot]
        let remote = attribute.remoteKey ?? remoteKeyName(ofKey: attribute.name, compiled)
        return (attribute.name, remote, attribute)
    }

    /// The names of the parts of an entity's key, and what they are called in JSON, in their order; none for a keyless
    /// entity.
    public func primaryKeyParts(of entity: String) throws -> [(local: String, remote: String)] {
        if let key = try primaryKey(of: entity) { return [(key.local, key.remote)] }
        let compiled = try self.compiled.entity(named: entity)
        return try (compiled.compositeKey?.parts ?? []).map { part in
            switch part {
            case .attribute(let slot):
                let name = self.compiled[compiled.table].attributes[slot].name
                return (name, try remoteKey(forAttribute: name, of: entity))
            case .relationship(let index):
                let relationship = compiled.relationships[index].relationship
                let spelling = self.compiled.rules(of: compiled).keys ?? .snake
                return (relationship.name, relationship.remoteKey ?? spelling.key(for: relationship.name))
            }
        }
    }

    private func remoteKeyName(ofKey name: String, _ entity: CompiledEntity) -> String {
        let rule = compiled.rules(of: entity).keys
        let isID = AttributeNaming.isID(name) && rule != .exact
        return (rule ?? .snake).key(for: isID ? "id" : name)
    }

    /// The to-one relationship to itself that must be nil for a row to be in scope of a root-level sync.
    public func rootScope(of entity: String) throws -> String? {
        try compiled.entity(named: entity).rootScope?.name
    }
}
