/// Checks entities together and completes inverses. Every problem is reported at once, with its path.
struct ModelValidator {
    private var entities: [Entity]
    private var problems: [SyncError.Problem] = []
    private var byName: [String: Int] = [:]

    /// The entities in name order.
    ///
    /// - Throws: ``SyncError`` `invalidModel`.
    static func validated(_ entities: [Entity]) throws -> [Entity] {
        var validator = ModelValidator(entities: entities.sorted { $0.name < $1.name })
        validator.checkNames()
        validator.checkParents()
        // Inheritance must be sound before anything is looked up along it.
        if validator.problems.isEmpty {
            validator.checkMembers()
            validator.checkKeys()
            validator.checkRelationships()
            validator.completeInverses()
        }
        guard validator.problems.isEmpty else {
            throw SyncError(.invalidModel, "the model is not valid", problems: validator.problems)
        }
        return validator.entities
    }

    private init(entities: [Entity]) {
        self.entities = entities
        for (index, entity) in entities.enumerated() { byName[entity.name] = index }
    }

    private mutating func problem(_ path: String, _ message: String) {
        problems.append(.init(path: path, message: message))
    }

    private func path(_ entity: Entity, _ attribute: Attribute) -> String {
        "entities.\(entity.name).attributes.\(attribute.name)"
    }

    private func path(_ entity: Entity, _ relationship: Relationship) -> String {
        "entities.\(entity.name).relationships.\(relationship.name)"
    }

    // MARK: Names

    private mutating func checkNames() {
        var seen: Set<String> = []
        for entity in entities {
            checkName(entity.name, "entities.\(entity.name)")
            if !seen.insert(entity.name.lowercased()).inserted {
                problem("entities.\(entity.name)", "another entity has this name; SQLite does not tell case apart")
            }
            for attribute in entity.attributes { checkName(attribute.name, path(entity, attribute)) }
            for relationship in entity.relationships { checkName(relationship.name, path(entity, relationship)) }
        }
    }

    private mutating func checkName(_ name: String, _ path: String) {
        if name.isEmpty { problem(path, "a name is missing") }
        if name.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\"" || $0.value == 0x7F }) {
            problem(path, "a name cannot contain quotes or control characters")
        }
        if name.contains(".") { problem(path, "a name cannot contain a dot") }
        for prefix in ["sync_", "sqlite_"] where name.lowercased().hasPrefix(prefix) {
            problem(path, "names that begin with '\(prefix)' are reserved")
        }
    }

    // MARK: Inheritance

    private mutating func checkParents() {
        for entity in entities {
            guard let parent = entity.parent else { continue }
            if byName[parent] == nil {
                problem("entities.\(entity.name).parent", "unknown entity '\(parent)'")
            } else if lineage(entity) == nil {
                problem("entities.\(entity.name).parent", "the entity is its own ancestor")
            }
        }
    }

    /// The entity and its ancestors; nil if they go round in a circle.
    private func lineage(_ entity: Entity) -> [Entity]? {
        var line = [entity]
        while let parent = line[line.count - 1].parent, let index = byName[parent] {
            if line.contains(where: { $0.name == parent }) { return nil }
            line.append(entities[index])
        }
        return line
    }

    private func root(of entity: Entity) -> String { lineage(entity)?.last?.name ?? entity.name }

    /// Names are shared by an entity and its ancestors; columns by a whole tree.
    private mutating func checkMembers() {
        var columns: [String: [String: (name: String, type: AttributeType)]] = [:]
        for entity in entities {
            var seen: Set<String> = []
            for ancestor in (lineage(entity) ?? []).dropFirst() {
                seen.formUnion((ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name)).map { $0.lowercased() })
            }
            for attribute in entity.attributes {
                if !seen.insert(attribute.name.lowercased()).inserted {
                    problem(path(entity, attribute), "the entity or its parent has another member of this name")
                }
                let tree = root(of: entity)
                if let other = columns[tree]?[attribute.name.lowercased()] {
                    if other.type != attribute.type || other.name != attribute.name {
                        problem(path(entity, attribute), "a related entity has '\(other.name)' of type '\(other.type)'; they share a table")
                    }
                } else {
                    columns[tree, default: [:]][attribute.name.lowercased()] = (attribute.name, attribute.type)
                }
                checkDefault(attribute, entity)
            }
            for relationship in entity.relationships where !seen.insert(relationship.name.lowercased()).inserted {
                problem(path(entity, relationship), "the entity or its parent has another member of this name")
            }
        }
    }

    private mutating func checkDefault(_ attribute: Attribute, _ entity: Entity) {
        guard let value = attribute.defaultValue, value != .null else { return }
        let fits: Bool =
            switch (value, attribute.type) {
            case (.integer, .integer), (.double, .double), (.decimal, .decimal), (.boolean, .boolean),
                (.string, .string), (.date, .date), (.uuid, .uuid), (.url, .url), (.binary, .binary),
                (.json, .json), (.json, .transformable):
                true
            default: false
            }
        if !fits { problem(path(entity, attribute) + ".default", "the default does not fit the type '\(attribute.type)'") }
    }

    // MARK: Keys

    private mutating func checkKeys() {
        for entity in entities {
            let attributes = (lineage(entity) ?? []).flatMap(\.attributes)
            if let key = entity.primaryKey {
                if let attribute = attributes.first(where: { $0.name == key }) {
                    checkKeyType(attribute, "entities.\(entity.name).primaryKey")
                } else {
                    problem("entities.\(entity.name).primaryKey", "unknown attribute '\(key)'")
                }
            }
            let marked = entity.attributes.filter(\.isPrimaryKey)
            for attribute in marked { checkKeyType(attribute, path(entity, attribute)) }
            for attribute in marked.dropFirst() { problem(path(entity, attribute), "another attribute is marked as the primary key") }
        }
    }

    private mutating func checkKeyType(_ attribute: Attribute, _ path: String) {
        if !attribute.type.canBeKey { problem(path, "an attribute of type '\(attribute.type)' cannot be a key") }
    }

    // MARK: Relationships

    private mutating func checkRelationships() {
        for entity in entities {
            for relationship in entity.relationships {
                let place = path(entity, relationship)
                if relationship.isOrdered, !relationship.isToMany {
                    problem(place + ".ordered", "only a to-many relationship can be ordered")
                }
                guard let destination = byName[relationship.destination] else {
                    problem(place + ".entity", "unknown entity '\(relationship.destination)'")
                    continue
                }
                guard let name = relationship.inverse else { continue }
                guard let inverse = member(name, of: entities[destination]) else {
                    problem(place + ".inverse", "\(relationship.destination) has no relationship '\(name)'")
                    continue
                }
                checkInverse(entity, relationship, inverse, place + ".inverse")
            }
        }
    }

    /// The inverse must lead to the entity, or to one it is a kind of, and back by this relationship.
    private mutating func checkInverse(
        _ entity: Entity, _ relationship: Relationship, _ inverse: (owner: Entity, relationship: Relationship),
        _ place: String
    ) {
        let name = "\(inverse.owner.name).\(inverse.relationship.name)"
        if inverse.relationship.destination != entity.name {
            problem(place, "\(name) leads to \(inverse.relationship.destination), not back to \(entity.name)")
        } else if let back = inverse.relationship.inverse, back != relationship.name {
            problem(place, "\(name) has '\(back)' as its inverse, not '\(relationship.name)'")
        } else if inverse.relationship.inverse == nil {
            let others = entities.flatMap { other in
                other.relationships.filter {
                    $0.inverse == inverse.relationship.name && member($0.inverse ?? "", of: $0.destination)?.owner.name == inverse.owner.name
                }.map { "\(other.name).\($0.name)" }
            }
            if others.count > 1 { problem(place, "\(name) is named as inverse by \(others.joined(separator: " and "))") }
        }
    }

    private func member(_ name: String, of entity: String) -> (owner: Entity, relationship: Relationship)? {
        byName[entity].flatMap { member(name, of: entities[$0]) }
    }

    /// A relationship of an entity or its ancestors.
    private func member(_ name: String, of entity: Entity) -> (owner: Entity, relationship: Relationship)? {
        for owner in lineage(entity) ?? [] {
            if let found = owner.relationships.first(where: { $0.name == name }) { return (owner, found) }
        }
        return nil
    }

    private mutating func completeInverses() {
        guard problems.isEmpty else { return }
        for entity in entities {
            for relationship in entity.relationships {
                guard let name = relationship.inverse, let inverse = member(name, of: relationship.destination),
                    let index = byName[inverse.owner.name],
                    let place = entities[index].relationships.firstIndex(where: { $0.name == name })
                else { continue }
                entities[index].relationships[place].inverse = relationship.name
            }
        }
    }
}
