import SyncCore

/// An inferred entity on its way into a model, with the JSON key of each member.
struct EntityDraft {
    var entity: SyncModel.Entity
    /// Member name → the JSON keys it is for. A generated inverse has none.
    var keys: [String: [String]] = [:]
    var members: [(name: String, member: InferredMember)] = []
    private(set) var left: [String] = []
    let inferred: InferredEntity
    var taken = UniqueNames()
    private let idKeys: IDKeys
    /// How its keys are spelled, if not in snake_case.
    let rule: KeyCase?
    /// Name → position, of attributes and of relationships without regard to case; name → positions of members.
    var attributePlaces: [String: Int] = [:]
    private var relationshipPlaces: [String: Int] = [:]
    var memberPlaces: [String: [Int]] = [:]
    var notes: [InferenceRemark] = []
    /// The attribute that the names fill under which its records stand; empty if there is none.
    private(set) var nameAttribute = ""

    var isKeyless: Bool { inferred.key.isEmpty }

    init(_ inferred: InferredEntity, _ spelling: InferredSpelling, target: (String) -> InferredEntity?) {
        self.inferred = inferred
        entity = SyncModel.Entity(inferred.name, keys: spelling.own(inferred.name))
        rule = entity.keys ?? spelling.ofModel
        // An attribute of one of these names would be taken for the key.
        if inferred.key.isEmpty { taken = UniqueNames(["id", "remoteID"]) }
        idKeys = IDKeys(of: inferred)
        let order = inferred.key + inferred.object.keys.filter { !inferred.key.contains($0) }
        for key in order {
            guard let value = inferred.object.members[key] else { continue }
            // An empty key names nothing.
            guard !key.isEmpty, !inferred.unreadable.contains(key) else {
                left.append(key)
                continue
            }
            add(InferredMember(key, value, of: inferred, target: target))
        }
        let parts = inferred.key.compactMap { key in keys.first { $0.value == [key] }?.key }
        if parts.count > 1 { entity.primaryKey = SyncModel.PrimaryKey(parts) }
        guard let name = inferred.nameOfNames else { return }
        nameAttribute = taken.take(name)
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
        let name = taken.take(Inflection.memberName(member.key))
        attributePlaces[name] = entity.attributes.count
        var attribute = SyncModel.Attribute(name, type)
        if !inferred.key.contains(member.key), member.value.isNullOnly { attribute.leaveTypeOpen() }
        entity.attributes.append(attribute)
        if isKey, name != "id" { entity.primaryKey = SyncModel.PrimaryKey(name) }
        note(name, member)
    }

    /// Whether another id key has the same target: then which of them the relationship is read from would be a guess.
    private func isAmbiguous(_ idKey: String, _ relationship: String) -> Bool {
        let alike = idKeys.alike(idKey)
        return idKeys.hasObjects(for: relationship) ? alike.count > 1 : alike.first != idKey
    }

    /// False if the ids cannot be told from another relationship's.
    private mutating func addLink(_ member: InferredMember, to target: String, many: Bool, byID: Bool) -> Bool {
        let base = byID ? InferredNames.target(ofIDKey: member.key)?.name ?? member.key : member.key
        let plain = Inflection.memberName(base) + (byID && many ? "s" : "")
        if byID, isAmbiguous(member.key, plain) { return false }
        if let place = relationshipPlaces[plain.lowercased()] {
            let known = entity.relationships[place]
            guard known.destination == target, known.isToMany == many, known.remoteKey == nil,
                Self.isRead(member.key, by: known, rule)
            else { return false }
            if member.isOrdered { entity.relationships[place].isOrdered = true }
            note(known.name, member)
            return true
        }
        let name = taken.take(plain)
        var relationship = SyncModel.Relationship(name, to: target, many: many, ordered: member.isOrdered)
        if !Self.isRead(member.key, by: relationship, rule) {
            relationship.remoteKey = RemoteKeyPath.escaped(member.key)
        }
        append(relationship)
        note(name, member)
        return true
    }

    private mutating func append(_ relationship: SyncModel.Relationship) {
        relationshipPlaces[relationship.name.lowercased()] = entity.relationships.count
        entity.relationships.append(relationship)
    }

    func relationship(_ name: String) -> SyncModel.Relationship? {
        relationshipPlace(name).map { entity.relationships[$0] }
    }

    func relationshipPlace(_ name: String) -> Int? {
        relationshipPlaces[name.lowercased()].flatMap { entity.relationships[$0].name == name ? $0 : nil }
    }

    private mutating func note(_ name: String, _ member: InferredMember) {
        keys[name, default: []].append(member.key)
        memberPlaces[name, default: []].append(members.count)
        members.append((name, member))
    }

    static func isRead(_ key: String, by relationship: SyncModel.Relationship, _ keys: KeyCase? = nil) -> Bool {
        AttributeNaming.keys(for: relationship, keys).contains {
            relationship.remoteKey == nil ? $0 == key : RemoteKeyPath.keys($0) == [key]
        }
    }

    // MARK: Inverses

    /// The to-one relationship of one of these names that leads to an entity and has no inverse; nil if several do.
    func wayBack(to owner: String, names: [String]) -> String? {
        let found = Set(names.map { $0.lowercased() }).compactMap { relationshipPlaces[$0] }
            .map { entity.relationships[$0] }
            .filter { !$0.isToMany && $0.destination == owner && $0.inverse == nil }
        return found.count == 1 ? found[0].name : nil
    }

    /// Adds a relationship that no key of the samples fills. Gives its name.
    mutating func addInverse(_ wish: String, to target: String, inverse: String) -> String {
        var wish = wish
        func isTaken(_ name: String) -> Bool {
            AttributeNaming.keys(for: SyncModel.Relationship(name, to: target), rule).contains(where: hasKey)
        }
        while isTaken(wish) { wish += "Owner" }
        let name = taken.take(wish)
        append(SyncModel.Relationship(name, to: target, inverse: inverse))
        return name
    }

    /// Says of the relationships whose objects hold records by name which attribute the names fill.
    mutating func setNames(_ nameAttribute: (String) -> String?) {
        for (name, member) in members where inferred.keyed.contains(member.key) {
            guard let place = relationshipPlaces[name.lowercased()] else { continue }
            entity.relationships[place].keyedBy = nameAttribute(entity.relationships[place].destination)
                .map { .attribute($0) }
        }
    }

    mutating func setInverse(of relationship: String, to inverse: String) {
        guard let place = relationshipPlaces[relationship.lowercased()] else { return }
        entity.relationships[place].inverse = inverse
    }

    private func hasKey(_ key: String) -> Bool { inferred.object.members[key] != nil }
}
