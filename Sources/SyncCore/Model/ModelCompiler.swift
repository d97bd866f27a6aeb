/// Builds the parts of a ``CompiledModel``: hierarchies, slots, keys and associations. The entities must be valid.
struct ModelCompiler {
    private(set) var entityIDs: [String: Int] = [:]
    private(set) var hierarchies: [EntityHierarchy] = []
    private(set) var links: [CompiledAssociation] = []
    private(set) var compiled: [CompiledEntity] = []

    private let entities: [SyncModel.Entity]
    private var parents: [Int?] = []
    /// The ancestors of each entity and the entity itself, topmost first.
    private var lines: [[Int]] = []
    private var keyNames: [[String]?] = []
    /// The table of each entity.
    private var tableOf: [TableID] = []
    private var hierarchyMembers: [[Int]] = []
    private var hierarchyAttributes: [[SyncModel.Attribute]] = []
    /// For each hierarchy, the slot of each attribute, by name.
    private var hierarchySlots: [[String: Int]] = []
    /// For each entity, the index of each of its relationships, by name.
    private var relationshipIndexes: [[String: Int]] = []
    /// For each hierarchy, the associations whose foreign key column is in its table.
    private var foreignKeys: [[AssociationID]] = []
    /// The association and end of each relationship, by its full name (`Entity.relationship`).
    private var endByName: [String: (link: AssociationID, end: CompiledAssociation.End)] = [:]

    init(_ entities: [SyncModel.Entity]) {
        self.entities = entities
        for (id, entity) in entities.enumerated() { entityIDs[entity.name] = id }
        parents = entities.map { $0.parent.flatMap { entityIDs[$0] } }
        lines = entities.indices.map { id in
            sequence(first: id) { [parents] in parents[$0] }.reversed()
        }
        keyNames = entities.indices.map(keyName)
        relationshipIndexes = entities.map { entity in
            let indexes = entity.relationships.enumerated().map { ($1.name, $0) }
            return Dictionary(indexes, uniquingKeysWith: { first, _ in first })
        }
        collectHierarchies()
        collectLinks()
        let families = families()
        compiled = entities.indices.map { compile($0, family: families[$0]) }
        setKeyParts()
        hierarchies = hierarchyMembers.indices.map { hierarchy(TableID($0)) }
    }

    private mutating func collectHierarchies() {
        tableOf = Array(repeating: TableID(0), count: entities.count)
        let byRoot = Dictionary(grouping: entities.indices) { lines[$0][0] }
        for id in entities.indices where parents[id] == nil {
            let members = (byRoot[id] ?? []).sorted { (lines[$0].count, $0) < (lines[$1].count, $1) }
            for member in members { tableOf[member] = TableID(hierarchyMembers.count) }
            hierarchyMembers.append(members)
            var attributes: [SyncModel.Attribute] = []
            var slots: [String: Int] = [:]
            for attribute in members.flatMap({ entities[$0].attributes }) where slots[attribute.name] == nil {
                slots[attribute.name] = attributes.count
                attributes.append(attribute)
            }
            hierarchyAttributes.append(attributes)
            hierarchySlots.append(slots)
        }
    }

    /// Returns for each entity the entity itself and all its subentities, in the order of the hierarchy.
    private func families() -> [[Int]] {
        var families: [[Int]] = Array(repeating: [], count: entities.count)
        for member in hierarchyMembers.joined() {
            for ancestor in lines[member] { families[ancestor].append(member) }
        }
        return families
    }

    // MARK: Links

    private mutating func collectLinks() {
        foreignKeys = Array(repeating: [], count: hierarchyMembers.count)
        for (id, entity) in entities.enumerated() {
            for relationship in entity.relationships {
                let name = "\(entity.name).\(relationship.name)"
                guard endByName[name] == nil else { continue }
                addLink(from: id, relationship, name: name)
            }
        }
    }

    private mutating func addLink(from id: Int, _ relationship: SyncModel.Relationship, name: String) {
        let destination = entityIDs[relationship.destination] ?? id
        let inverse = relationship.inverse.flatMap { inverseName in
            lines[destination].compactMap { owner in
                relationshipIndexes[owner][inverseName].map { (owner, entities[owner].relationships[$0]) }
            }.first
        }
        let inverseKey = inverse.map { "\(entities[$0.0].name).\($0.1.name)" }
        let isSymmetric = inverseKey == name
        let here = CompiledAssociation.Role(
            entity: id, table: tableOf[id], relationship: relationship, isToMany: relationship.isToMany)
        let there = CompiledAssociation.Role(
            entity: inverse?.0 ?? destination, table: tableOf[destination], relationship: inverse?.1,
            isToMany: inverse?.1.isToMany ?? true)
        let storage: CompiledAssociation.Storage = here.isToMany && there.isToMany ? .joinTable : .foreignKey
        let hereFirst =
            inverse.map {
                CompiledAssociation.isFirst(relationship, named: name, beside: $0.1, named: inverseKey ?? name)
            } ?? true
        let link = CompiledAssociation(
            id: AssociationID(links.count), storage: storage, first: hereFirst ? here : there,
            second: hereFirst ? there : here, isSymmetric: isSymmetric)
        links.append(link)
        if storage == .foreignKey { foreignKeys[link.first.table.index].append(link.id) }
        endByName[name] = (link.id, hereFirst ? .first : .second)
        if let inverseKey, !isSymmetric { endByName[inverseKey] = (link.id, hereFirst ? .second : .first) }
    }

    // MARK: Entities

    private func compile(_ id: Int, family: [Int]) -> CompiledEntity {
        let line = lines[id]
        let table = tableOf[id]
        var slots: [Int] = []
        var slotByName: [String: Int] = [:]
        for attribute in line.flatMap({ entities[$0].attributes }) where slotByName[attribute.name] == nil {
            guard let slot = hierarchySlots[table.index][attribute.name] else { continue }
            slots.append(slot)
            slotByName[attribute.name] = slot
        }
        var relationships: [CompiledRelationship] = []
        var relationshipByName: [String: Int] = [:]
        for owner in line {
            for relationship in entities[owner].relationships where relationshipByName[relationship.name] == nil {
                guard let index = endByName["\(entities[owner].name).\(relationship.name)"] else { continue }
                relationshipByName[relationship.name] = relationships.count
                relationships.append(
                    CompiledRelationship(
                        relationship: relationship, owner: owner,
                        destination: entityIDs[relationship.destination] ?? id,
                        link: index.link, end: index.end))
            }
        }
        let key = keyNames[id]
        let keyOwner = key == nil ? nil : line.first { keyNames[$0] == key }
        let keySlot = key.flatMap { $0.count == 1 ? slotByName[$0[0]] : nil }
        return CompiledEntity(
            id: id, name: entities[id].name, parent: parents[id], isAbstract: entities[id].isAbstract, table: table,
            family: family, slots: slots, slotByName: slotByName, keySlot: keySlot,
            compositeKey: keySlot == nil ? key.map { compositeKey($0, slotByName, relationshipByName) } : nil,
            keyOwner: keyOwner, relationships: relationships, relationshipByName: relationshipByName)
    }

    private func compositeKey(
        _ names: [String], _ slots: [String: Int], _ relationships: [String: Int]
    ) -> CompositeKey {
        CompositeKey(
            parts: names.compactMap { name in
                slots[name].map { .attribute($0) } ?? relationships[name].map { .relationship($0) }
            })
    }

    /// Marks the associations whose foreign keys are parts of primary keys.
    private mutating func setKeyParts() {
        for entity in compiled {
            for case .relationship(let index) in entity.compositeKey?.parts ?? [] {
                links[entity.relationships[index].link.index].isKeyPart = true
            }
        }
    }

    /// Returns the names of the parts of the primary key; nil for a keyless entity.
    ///
    /// The nearest entity that declares a key or marks attributes as key decides, from the entity itself up to the
    /// root. Otherwise the key is the attribute `id`, or else `remoteID`, if its type can be a key.
    private func keyName(_ id: Int) -> [String]? {
        let line = lines[id]
        for owner in line.reversed() {
            if let declared = entities[owner].primaryKey { return declared.parts }
            let marked = entities[owner].attributes.filter(\.isPrimaryKey)
            if !marked.isEmpty { return marked.map(\.name) }
        }
        return SyncModel.PrimaryKey.defaultName(among: line.flatMap { entities[$0].attributes }).map { [$0] }
    }

    // MARK: Hierarchies

    private func hierarchy(_ id: TableID) -> EntityHierarchy {
        let members = hierarchyMembers[id.index]
        let rootKey = compiled[members[0]].keySlot
        let sharesKey = members.allSatisfy { compiled[$0].keySlot == rootKey && compiled[$0].compositeKey == nil }
        return EntityHierarchy(
            id: id, root: members[0], entities: members, attributes: hierarchyAttributes[id.index],
            keySlot: sharesKey ? rootKey : nil,
            foreignKeys: foreignKeys[id.index])
    }
}

extension CompiledAssociation {
    /// Returns whether the end with the relationship `here` is the first end, beside the end with its inverse `there`.
    ///
    /// A to-one end precedes a to-many end. Of two to-one ends, the one that declares a column is first, or else the one
    /// whose rows a delete rule of the other end cascades to. In all other cases, the end whose full name
    /// (`Entity.relationship`) sorts first is first. A relationship without an inverse is at the first end.
    package static func isFirst(
        _ here: SyncModel.Relationship, named name: String, beside there: SyncModel.Relationship, named other: String
    ) -> Bool {
        if here.isToMany != there.isToMany { return !here.isToMany }
        if !here.isToMany, (here.column == nil) != (there.column == nil) { return here.column != nil }
        let cascadesHere = there.deleteRule == .cascade
        if !here.isToMany, cascadesHere != (here.deleteRule == .cascade) { return cascadesHere }
        return name <= other
    }
}
