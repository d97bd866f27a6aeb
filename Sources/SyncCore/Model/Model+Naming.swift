extension Model {
    /// The key an attribute is exported under.
    ///
    /// A custom remote key as it is; `id` for `id` and `remoteID`; a reserved word without the entity's name
    /// (`userType` → `type`), unless that key fills another attribute; else the snake_case form or the name itself.
    /// A name is never turned into camelCase: `firstName` would not fill an attribute called `first_name`.
    ///
    /// - Parameter nested: Whether the row is exported inside its owner's nested attributes, where `destroy` becomes
    ///   `_destroy`.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`.
    public func remoteKey(
        forAttribute name: String, of entity: String, case keyCase: KeyCase = .snake, nested: Bool = false
    ) throws -> String {
        let compiled = try self.compiled.entity(named: entity)
        guard let slot = compiled.slotByName[name] else {
            throw SyncError(.unknownAttribute, "\(entity) has no attribute '\(name)'", entity: entity)
        }
        let attribute = self.compiled[compiled.table].attributes[slot]
        if let remoteKey = attribute.remoteKey { return remoteKey }
        if nested, name == "destroy" { return "_destroy" }
        let short =
            AttributeNaming.isID(name) ? "id" : AttributeNaming.reservedWord(of: name, compiled, self.compiled)
        if let short, self.compiled.names(of: compiled).attribute(forKey: short)?.slot == slot {
            return short
        }
        return keyCase == .snake ? Inflection.snakeCase(name) : name
    }

    /// The attribute a JSON key fills; nil if there is none.
    public func attribute(forKey key: String, in entity: String) throws -> String? {
        let compiled = try self.compiled.entity(named: entity)
        let slot = self.compiled.names(of: compiled).attribute(forKey: key)?.slot
        return slot.map { self.compiled[compiled.table].attributes[$0].name }
    }

    /// The key attribute of an entity and what it is called in JSON; nil for a keyless entity, and one whose key has
    /// several parts (see ``primaryKeyParts(of:)``).
    public func primaryKey(of entity: String) throws -> (local: String, remote: String, attribute: Attribute)? {
        let compiled = try self.compiled.entity(named: entity)
        guard let slot = compiled.keySlot else { return nil }
        let attribute = self.compiled[compiled.table].attributes[slot]
        let isID = AttributeNaming.isID(attribute.name)
        let remote = attribute.remoteKey ?? (isID ? "id" : Inflection.snakeCase(attribute.name))
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
                return (relationship.name, relationship.remoteKey ?? Inflection.snakeCase(relationship.name))
            }
        }
    }

    /// The to-one relationship to itself that must be nil for a row to be in scope of a root-level sync.
    public func rootScope(of entity: String) throws -> String? {
        try compiled.entity(named: entity).rootScope?.name
    }
}
