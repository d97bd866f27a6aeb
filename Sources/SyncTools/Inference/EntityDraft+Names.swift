import SyncCore

extension EntityDraft {
    /// Asks the rules of naming whether each key reaches its member, and mends what they mix up. True if something was.
    mutating func settleNames(in model: SyncModel) throws -> Bool {
        var isChanged = false
        let compiled = try model.compiled.entity(named: entity.name)
        let names = model.compiled.names(of: compiled)
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            if try keepSpelling(of: name, keys, in: model) { isChanged = true }
            for key in keys {
                let slot = names.attribute(forKey: key)?.slot
                let found = slot.map { model.compiled[compiled.table].attributes[$0].name }
                if let index = attributePlaces[name] {
                    if found != name, entity.attributes[index].remoteKey == nil {
                        entity.attributes[index].remoteKey = RemoteKeyPath.escaped(key)
                        isChanged = true
                    }
                    for relationship in names.relationships(readFrom: key) where keepApart(relationship.index) {
                        isChanged = true
                    }
                } else if let found, rename(found) {
                    isChanged = true
                }
            }
        }
        return isChanged
    }

    /// What would be exported under another key than it came under keeps that as its remote key. A relationship that is read
    /// from several keys does not: it would be read from one only.
    private mutating func keepSpelling(of name: String, _ keys: [String], in model: SyncModel) throws -> Bool {
        guard let key = keys.first.map(RemoteKeyPath.escaped), keys.count == 1 else { return false }
        if let index = attributePlaces[name] {
            guard entity.attributes[index].remoteKey == nil,
                try model.remoteKey(forAttribute: name, of: entity.name) != key
            else { return false }
            entity.attributes[index].remoteKey = key
            return true
        }
        guard let index = relationshipPlace(name), entity.relationships[index].remoteKey == nil, hasObjects(name)
        else { return false }
        guard (rule ?? .snake).key(for: name) != key else { return false }
        entity.relationships[index].remoteKey = key
        return true
    }

    /// Whether a relationship was seen with objects, and not only with ids, which are exported as objects.
    private func hasObjects(_ name: String) -> Bool {
        (memberPlaces[name] ?? []).contains { members[$0].member.value.objects > 0 }
    }

    /// A relationship whose names include an attribute's key is read from its own key only.
    private mutating func keepApart(_ relationship: Int) -> Bool {
        guard let own = keys[entity.relationships[relationship].name]?.first,
            entity.relationships[relationship].remoteKey == nil
        else { return false }
        entity.relationships[relationship].remoteKey = RemoteKeyPath.escaped(own)
        return true
    }

    /// An attribute whose names include a relationship's key gets another name.
    private mutating func rename(_ name: String) -> Bool {
        guard let index = attributePlaces[name], let own = keys[name]?.first else { return false }
        let other = taken.take(name + "Value")
        entity.attributes[index].name = other
        entity.attributes[index].remoteKey = RemoteKeyPath.escaped(own)
        if let parts = entity.primaryKey?.parts {
            entity.primaryKey = SyncModel.PrimaryKey(parts.map { $0 == name ? other : $0 })
        } else if inferred.key == [own] {
            entity.primaryKey = SyncModel.PrimaryKey(other)
        }
        keys[other] = keys.removeValue(forKey: name)
        attributePlaces[other] = attributePlaces.removeValue(forKey: name)
        memberPlaces[other] = memberPlaces.removeValue(forKey: name)
        for place in memberPlaces[other] ?? [] { members[place].name = other }
        return true
    }
}
