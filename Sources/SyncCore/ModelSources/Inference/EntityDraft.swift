/// An inferred entity on its way into a model, with the JSON key of each member.
struct EntityDraft {
    private(set) var entity: Entity
    /// Member name → the JSON keys it is for. A generated inverse has none.
    private(set) var keys: [String: [String]] = [:]
    private(set) var members: [(name: String, member: InferredMember)] = []
    private var left: [String] = []
    private let inferred: InferredEntity
    private var taken: Set<String> = []
    var notes: [InferenceRemark] = []

    var isKeyless: Bool { inferred.key == nil }

    init(_ inferred: InferredEntity, target: (String) -> InferredEntity?) {
        self.inferred = inferred
        entity = Entity(inferred.name)
        // An attribute of one of these names would be taken for the key.
        if inferred.key == nil { taken = ["id", "remoteid"] }
        let order = [inferred.key].compactMap { $0 } + inferred.object.keys.filter { $0 != inferred.key }
        for key in order {
            guard let value = inferred.object.members[key] else { continue }
            guard isReachable(key) else {
                left.append(key)
                continue
            }
            add(InferredMember(key, value, of: inferred, target: target))
        }
    }

    /// An empty key names nothing, and `a.b` beside `a` reads as b inside a.
    private func isReachable(_ key: String) -> Bool {
        guard !key.isEmpty else { return false }
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
        return parts.indices.dropFirst().allSatisfy { end in
            inferred.object.members[parts[..<end].joined(separator: ".")] == nil
        }
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
        let isKey = member.key == inferred.key
        let name = InferredNames.unique(InferredNames.member(member.key), &taken)
        entity.attributes.append(Attribute(name, type))
        if isKey, name != "id" { entity.primaryKey = name }
        note(name, member)
    }

    /// Whether another id key has the same target: then which of them the relationship is read from would be a guess.
    private func isAmbiguous(_ idKey: String, _ relationship: String) -> Bool {
        let target = InferredNames.target(ofIDKey: idKey)
        let alike = inferred.object.keys.filter { key in
            let other = InferredNames.target(ofIDKey: key)
            return other?.name == target?.name && other?.isList == target?.isList
        }
        let hasObjects = inferred.destinations.keys.contains {
            InferredNames.member($0).lowercased() == relationship.lowercased()
        }
        return hasObjects ? alike.count > 1 : alike.first != idKey
    }

    /// False if the ids cannot be told from another relationship's.
    private mutating func addLink(_ member: InferredMember, to target: String, many: Bool, byID: Bool) -> Bool {
        let base = byID ? InferredNames.target(ofIDKey: member.key)?.name ?? member.key : member.key
        let plain = InferredNames.member(base) + (byID && many ? "s" : "")
        if byID, isAmbiguous(member.key, plain) { return false }
        if let known = entity.relationships.first(where: { $0.name.lowercased() == plain.lowercased() }) {
            guard known.destination == target, known.isToMany == many, known.remoteKey == nil,
                Self.isRead(member.key, by: known)
            else { return false }
            note(known.name, member)
            return true
        }
        let name = InferredNames.unique(plain, &taken)
        var relationship = Relationship(name, to: target, many: many)
        if !Self.isRead(member.key, by: relationship) { relationship.remoteKey = member.key }
        entity.relationships.append(relationship)
        note(name, member)
        return true
    }

    private mutating func note(_ name: String, _ member: InferredMember) {
        keys[name, default: []].append(member.key)
        members.append((name, member))
    }

    static func isRead(_ key: String, by relationship: Relationship) -> Bool {
        (AttributeNaming.objectKeys(for: relationship) + AttributeNaming.idKeys(for: relationship)).contains(key)
    }

    // MARK: Inverses

    /// Adds a relationship that no key of the samples fills. Gives its name.
    mutating func addInverse(_ wish: String, to target: String, inverse: String) -> String {
        var wish = wish
        while inferred.object.keys.contains(where: { Self.isRead($0, by: Relationship(wish, to: target)) }) {
            wish += "Owner"
        }
        let name = InferredNames.unique(wish, &taken)
        entity.relationships.append(Relationship(name, to: target, inverse: inverse))
        return name
    }

    mutating func setInverse(of relationship: String, to inverse: String) {
        guard let index = entity.relationships.firstIndex(where: { $0.name == relationship }) else { return }
        entity.relationships[index].inverse = inverse
    }

    // MARK: Names

    /// Asks the rules of naming whether each key reaches its member, and mends what they mix up. True if something was.
    mutating func settleNames(in model: Model) throws -> Bool {
        var isChanged = false
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            for key in keys {
                let found = try model.attribute(forKey: key, in: entity.name)
                if let index = entity.attributes.firstIndex(where: { $0.name == name }) {
                    if found != name, entity.attributes[index].remoteKey == nil {
                        entity.attributes[index].remoteKey = key
                        isChanged = true
                    }
                    if keepRelationships(from: key) { isChanged = true }
                } else if let found, rename(found) {
                    isChanged = true
                }
            }
        }
        return isChanged
    }

    /// A relationship whose names include an attribute's key is read from its own key only.
    private mutating func keepRelationships(from key: String) -> Bool {
        var isChanged = false
        for index in entity.relationships.indices where Self.isRead(key, by: entity.relationships[index]) {
            guard let own = keys[entity.relationships[index].name]?.first,
                entity.relationships[index].remoteKey == nil
            else { continue }
            entity.relationships[index].remoteKey = own
            isChanged = true
        }
        return isChanged
    }

    /// An attribute whose names include a relationship's key gets another name.
    private mutating func rename(_ name: String) -> Bool {
        guard let index = entity.attributes.firstIndex(where: { $0.name == name }), let own = keys[name]?.first else {
            return false
        }
        let other = InferredNames.unique(name + "Value", &taken)
        entity.attributes[index].name = other
        entity.attributes[index].remoteKey = own
        if entity.primaryKey == name || (entity.primaryKey == nil && own == inferred.key) { entity.primaryKey = other }
        keys[other] = keys.removeValue(forKey: name)
        for position in members.indices where members[position].name == name { members[position].name = other }
        return true
    }

    // MARK: Remarks

    var origins: [InferredOrigin] {
        members.map { name, member in
            let value = member.value
            let hasValues = value.scalars.count + value.singles + value.lists > value.emptyLists
            return InferredOrigin(entity: entity.name, member: name, key: member.key, hasValues: hasValues)
        }
    }

    var remarks: [InferenceRemark] {
        var remarks: [InferenceRemark] = []
        if isKeyless {
            remarks.append(
                .init(
                    entity.name,
                    "keyless: \(inferred.object.count) objects without an id; each belongs to the row it is in"))
        } else if let key = inferred.key, let value = inferred.object.members[key] {
            let missing = inferred.object.count - value.scalars.count
            let lack = missing > 0 ? ", \(missing) without it, which a sync skips" : ""
            remarks.append(.init(entity.name, "\(inferred.object.count) objects with the key '\(key)'\(lack)"))
        }
        remarks += members.map { .init("\(entity.name).\($0.name)", evidence($0.member, $0.name)) }
        remarks += left.map { .init(entity.name, "the key '\($0)' is left out: nothing can be read from it") }
        return remarks + notes
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
        guard let relationship = entity.relationships.first(where: { $0.name == name }) else {
            let type = entity.attributes.first { $0.name == name }?.type.rawValue ?? ""
            return "\(type): \(found)"
        }
        return
            "to \(relationship.isToMany ? "many" : "one") \(relationship.destination) (key '\(member.key)'): \(found)"
    }
}
