import SyncCore

/// An inferred entity before it becomes part of a model, with the JSON key of each member.
struct EntityDraft {
    var entity: SyncModel.Entity
    /// The JSON keys that a member is read from, by the name of the member. A generated inverse and the attribute for
    /// object keys have no entry.
    var keys: [String: [String]] = [:]
    var members: [(name: String, member: InferredMember)] = []
    private(set) var left: [String] = []
    let inferred: InferredEntity
    var usedNames = UniqueNames()
    private let idKeys: IDKeys
    /// The case of the entity's keys; nil for the default, snake_case.
    let rule: KeyCase?
    /// The index of each attribute by name. `relationshipIndexes` has the index of each relationship by lowercased
    /// name. `memberIndexes` has the indexes in `members` by name.
    var attributeIndexes: [String: Int] = [:]
    private var relationshipIndexes: [String: Int] = [:]
    var memberIndexes: [String: [Int]] = [:]
    var notes: [InferenceNote] = []
    /// The attribute for the object keys of the records; empty if no nested object has the records as members.
    private(set) var nameAttribute = ""

    var isKeyless: Bool { inferred.key.isEmpty }

    init(_ inferred: InferredEntity, _ spelling: InferredSpelling, target: (String) -> InferredEntity?) {
        self.inferred = inferred
        entity = SyncModel.Entity(inferred.name, keyCase: spelling.own(inferred.name))
        rule = entity.keyCase ?? spelling.ofModel
        // An attribute with one of these names would become the primary key.
        if inferred.key.isEmpty { usedNames = UniqueNames(SyncModel.PrimaryKey.defaultNames) }
        idKeys = IDKeys(of: inferred)
        let order = inferred.key + inferred.object.keys.filter { !inferred.key.contains($0) }
        for key in order {
            guard let value = inferred.object.members[key] else { continue }
            // A member cannot be named after an empty key.
            guard !key.isEmpty, !inferred.unreadable.contains(key) else {
                left.append(key)
                continue
            }
            add(InferredMember(key, value, of: inferred, target: target))
        }
        let parts = inferred.key.compactMap { key in keys.first { $0.value == [key] }?.key }
        if parts.count > 1 { entity.primaryKey = SyncModel.PrimaryKey(parts) }
        guard let name = inferred.objectKeyAttribute else { return }
        nameAttribute = usedNames.reserve(name)
        entity.attributes.append(SyncModel.Attribute(nameAttribute, .string))
    }

    private mutating func add(_ member: InferredMember) {
        switch member.kind {
        case .attribute(let type): addAttribute(member, type)
        case .link(let target, let many, let byID):
            if !addLink(member, to: target, many: many, byID: byID) { addAttribute(member, attributeType(member)) }
        }
    }

    private func attributeType(_ member: InferredMember) -> AttributeType {
        member.value.lists + member.value.singles > 0 ? .json : member.value.scalars.type
    }

    private mutating func addAttribute(_ member: InferredMember, _ type: AttributeType) {
        let isKey = inferred.key == [member.key]
        let name = usedNames.reserve(Inflection.memberName(member.key))
        attributeIndexes[name] = entity.attributes.count
        var attribute = SyncModel.Attribute(name, type)
        if !inferred.key.contains(member.key), member.value.isNullOnly { attribute.setTypeOpen() }
        entity.attributes.append(attribute)
        if isKey, name != "id" { entity.primaryKey = SyncModel.PrimaryKey(name) }
        record(name, member)
    }

    /// Returns whether an earlier key seems to have IDs of the same rows. If the relationship also has objects, returns
    /// whether any other key does, because the choice of a key would be a guess.
    private func isAmbiguous(_ idKey: String, _ relationship: String) -> Bool {
        let alike = idKeys.alike(idKey)
        return idKeys.hasObjects(for: relationship) ? alike.count > 1 : alike.first != idKey
    }

    /// Adds a relationship, or adds a key to the relationship with the same name. Returns false if the IDs or objects
    /// may belong to another relationship.
    private mutating func addLink(_ member: InferredMember, to target: String, many: Bool, byID: Bool) -> Bool {
        let base = byID ? InferredNames.target(ofIDKey: member.key)?.name ?? member.key : member.key
        let plain = Inflection.memberName(base) + (byID && many ? "s" : "")
        if byID, isAmbiguous(member.key, plain) { return false }
        if let place = relationshipIndexes[plain.lowercased()] {
            let known = entity.relationships[place]
            guard known.destination == target, known.isToMany == many, known.remoteKey == nil,
                Self.isRead(member.key, by: known, rule)
            else { return false }
            if member.isOrdered { entity.relationships[place].isOrdered = true }
            record(known.name, member)
            return true
        }
        let name = usedNames.reserve(plain)
        var relationship = SyncModel.Relationship(name, to: target, many: many, ordered: member.isOrdered)
        if !Self.isRead(member.key, by: relationship, rule) {
            relationship.remoteKey = RemoteKeyPath.escaped(member.key)
        }
        append(relationship)
        record(name, member)
        return true
    }

    private mutating func append(_ relationship: SyncModel.Relationship) {
        relationshipIndexes[relationship.name.lowercased()] = entity.relationships.count
        entity.relationships.append(relationship)
    }

    func relationship(_ name: String) -> SyncModel.Relationship? {
        relationshipIndex(name).map { entity.relationships[$0] }
    }

    func relationshipIndex(_ name: String) -> Int? {
        relationshipIndexes[name.lowercased()].flatMap { entity.relationships[$0].name == name ? $0 : nil }
    }

    private mutating func record(_ name: String, _ member: InferredMember) {
        keys[name, default: []].append(member.key)
        memberIndexes[name, default: []].append(members.count)
        members.append((name, member))
    }

    static func isRead(_ key: String, by relationship: SyncModel.Relationship, _ keys: KeyCase? = nil) -> Bool {
        AttributeNaming.keys(for: relationship, keys).contains {
            relationship.remoteKey == nil ? $0 == key : RemoteKeyPath.keys($0) == [key]
        }
    }

    // MARK: Inverses

    /// Returns the name of the only to-one relationship to an owner with one of the given names and no inverse; nil
    /// otherwise.
    func wayBack(to owner: String, names: [String]) -> String? {
        let found = Set(names.map { $0.lowercased() }).compactMap { relationshipIndexes[$0] }
            .map { entity.relationships[$0] }
            .filter { !$0.isToMany && $0.destination == owner && $0.inverse == nil }
        return found.count == 1 ? found[0].name : nil
    }

    /// Adds a to-one relationship that no key of the samples is read into. Returns the name of the relationship.
    mutating func addInverse(_ wish: String, to target: String, inverse: String) -> String {
        var wish = wish
        func isTaken(_ name: String) -> Bool {
            AttributeNaming.keys(for: SyncModel.Relationship(name, to: target), rule).contains(where: hasKey)
        }
        while isTaken(wish) { wish += "Owner" }
        let name = usedNames.reserve(wish)
        append(SyncModel.Relationship(name, to: target, inverse: inverse))
        return name
    }

    /// Sets `keyedBy` of the relationships with objects whose members are records.
    mutating func setNames(_ nameAttribute: (String) -> String?) {
        for (name, member) in members where inferred.keyed.contains(member.key) {
            guard let place = relationshipIndexes[name.lowercased()] else { continue }
            entity.relationships[place].keyedBy = nameAttribute(entity.relationships[place].destination)
                .map { .attribute($0) }
        }
    }

    mutating func setInverse(of relationship: String, to inverse: String) {
        guard let place = relationshipIndexes[relationship.lowercased()] else { return }
        entity.relationships[place].inverse = inverse
    }

    private func hasKey(_ key: String) -> Bool { inferred.object.members[key] != nil }
}

// MARK: - Names

extension EntityDraft {
    /// Checks that the naming rules read each key into its member, and resolves conflicts. Returns whether anything
    /// changed.
    mutating func resolveNames(in model: SyncModel) throws -> Bool {
        var isChanged = false
        let compiled = try model.compiled.entity(named: entity.name)
        let names = model.compiled.names(of: compiled)
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            if try setRemoteKeyForSpelling(of: name, keys, in: model) { isChanged = true }
            for key in keys {
                let slot = names.attribute(forKey: key)?.slot
                let found = slot.map { model.compiled[compiled.table].attributes[$0].name }
                if let index = attributeIndexes[name] {
                    if found != name, entity.attributes[index].remoteKey == nil {
                        entity.attributes[index].remoteKey = RemoteKeyPath.escaped(key)
                        isChanged = true
                    }
                    for relationship in names.relationships(readFrom: key) where setOwnRemoteKey(relationship.index) {
                        isChanged = true
                    }
                } else if let found, rename(found) {
                    isChanged = true
                }
            }
        }
        return isChanged
    }

    /// Sets the remote key of a member that would otherwise be exported under another key. A relationship that is read
    /// from several keys gets no remote key, because it would then be read from only one of them.
    private mutating func setRemoteKeyForSpelling(of name: String, _ keys: [String], in model: SyncModel) throws -> Bool
    {
        guard let key = keys.first.map(RemoteKeyPath.escaped), keys.count == 1 else { return false }
        if let index = attributeIndexes[name] {
            guard entity.attributes[index].remoteKey == nil,
                try model.remoteKey(forAttribute: name, of: entity.name) != key
            else { return false }
            entity.attributes[index].remoteKey = key
            return true
        }
        guard let index = relationshipIndex(name), entity.relationships[index].remoteKey == nil, hasObjects(name)
        else { return false }
        guard (rule ?? .snake).key(for: name) != key else { return false }
        entity.relationships[index].remoteKey = key
        return true
    }

    /// Returns whether the samples have objects for a relationship. Relationships are exported as objects, so IDs alone
    /// do not count.
    private func hasObjects(_ name: String) -> Bool {
        (memberIndexes[name] ?? []).contains { members[$0].member.value.objects > 0 }
    }

    /// Sets the remote key of a relationship that would also be read from the key of an attribute. The relationship is
    /// then read only from its first key.
    private mutating func setOwnRemoteKey(_ relationship: Int) -> Bool {
        guard let own = keys[entity.relationships[relationship].name]?.first,
            entity.relationships[relationship].remoteKey == nil
        else { return false }
        entity.relationships[relationship].remoteKey = RemoteKeyPath.escaped(own)
        return true
    }

    /// Renames an attribute that would also be read from the key of a relationship.
    private mutating func rename(_ name: String) -> Bool {
        guard let index = attributeIndexes[name], let own = keys[name]?.first else { return false }
        let other = usedNames.reserve(name + "Value")
        entity.attributes[index].name = other
        entity.attributes[index].remoteKey = RemoteKeyPath.escaped(own)
        if let parts = entity.primaryKey?.parts {
            entity.primaryKey = SyncModel.PrimaryKey(parts.map { $0 == name ? other : $0 })
        } else if inferred.key == [own] {
            entity.primaryKey = SyncModel.PrimaryKey(other)
        }
        keys[other] = keys.removeValue(forKey: name)
        attributeIndexes[other] = attributeIndexes.removeValue(forKey: name)
        memberIndexes[other] = memberIndexes.removeValue(forKey: name)
        for place in memberIndexes[other] ?? [] { members[place].name = other }
        return true
    }
}

// MARK: - Notes

extension EntityDraft {
    var origins: [InferredOrigin] {
        members.map { name, member in
            let value = member.value
            let hasValues = value.scalars.count + value.singles + value.lists > value.emptyLists
            return InferredOrigin(
                entity: entity.name, member: name, key: member.key, hasValues: hasValues, type: attributeType(member),
                isForObjects: value.objects > 0)
        }
    }

    var notesWithKeys: [InferenceNote] {
        var all: [InferenceNote] = []
        if let keys = entity.keyCase { all.append(.init(entity.name, "keys are written in \(keys.word)")) }
        if isKeyless {
            all.append(
                .init(
                    entity.name,
                    "keyless: \(inferred.object.count) objects without an ID; each belongs to the row that contains it")
            )
        } else {
            let found = inferred.key.map { inferred.object.members[$0]?.scalars.count ?? 0 }.min() ?? 0
            let missing = inferred.object.count - found
            let lack = missing > 0 ? ", \(missing) without it, which a sync skips" : ""
            let key = inferred.key.map { "'\($0)'" }.joined(separator: ", ")
            all.append(.init(entity.name, "\(inferred.object.count) objects with the key \(key)\(lack)"))
        }
        all += members.map { .init("\(entity.name).\($0.name)", evidence($0.member, $0.name)) }
        if !nameAttribute.isEmpty {
            all.append(.init("\(entity.name).\(nameAttribute)", "string: the object keys of the objects"))
        }
        all += left.map {
            let reason = $0.isEmpty ? "it is empty" : "it has no usable values"
            return InferenceNote(entity.name, "the key '\($0)' is excluded: \(reason)")
        }
        return all + notes
    }

    private func evidence(_ member: InferredMember, _ name: String) -> String {
        let value = member.value
        let counts = [
            (value.scalars.count, "values"), (value.singles, "objects"), (value.objectLists, "lists of objects"),
            (value.scalarLists, "lists of values"), (value.emptyLists, "empty lists"),
            (value.otherLists, "mixed lists"),
            (value.scalars.nulls, "null"),
        ]
        let found = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        guard let relationship = relationship(name) else {
            let type = attributeIndexes[name].map { entity.attributes[$0].type.rawValue } ?? ""
            return "\(type): \(found)"
        }
        return
            "to \(relationship.isToMany ? "many" : "one") \(relationship.destination) (key '\(member.key)'): \(found)"
            + (member.isOrdered ? ", ordered: the lists are not sorted by key" : "")
    }
}

// Attributes with only null values in the samples so far.
extension SyncModel.Attribute {
    /// The source type that marks an attribute with an open type in a model.
    private static let open = "unknown"

    /// Whether inference saw only null. The attribute stores values as JSON until `ModelEvolution` gives it the type of
    /// the first values.
    var isTypeOpen: Bool { type == .json && sourceType == Self.open }

    mutating func setTypeOpen() {
        type = .json
        sourceType = Self.open
    }
}
