package import SyncCore

/// A model extended with the members and types that new samples need.
///
/// Nothing in the model is removed, renamed or narrowed, except attributes for which inference saw only null. Such an
/// attribute gets the type of the first values, or becomes a relationship.
///
/// ```swift
/// let found = try ModelEvolution(of: stack.model, by: [InferenceSample(json, entity: "User")])
/// for note in found.notes { print(note) }  // User.nickname: string, new
/// ```
package struct ModelEvolution: Sendable {
    /// The extended model.
    package private(set) var model: SyncModel
    /// Notes about additions and widened types, in the order found; empty if the samples need none.
    package private(set) var notes: [InferenceNote] = []

    private var entities: [SyncModel.Entity]
    /// The index of each entity. `attributeIndexes` has the index of each attribute by entity. `usedNames` has the
    /// names of members in use by the root entity of the table.
    private var indexes: [String: Int]
    private var attributeIndexes: [String: [String: Int]] = [:]
    private var usedNames: [String: UniqueNames] = [:]
    private let origins: [String: [InferredOrigin]]
    private let inferred: InferredModel
    /// The existing or added entity of the model for each inferred entity.
    private var counterparts: [String: String] = [:]
    /// The attributes that became relationships, by entity.
    private var replaced: [String: Set<String>] = [:]
    /// The names of added attributes, by entity and by the key that the attribute is read from.
    private var addedNames: [String: [String: String]] = [:]
    /// The destinations of added relationships, by entity and by the keys that the relationships are read from.
    private var addedKeys: [String: [String: String]] = [:]
    private let hasValues: @Sendable (_ entity: String, _ attribute: String) throws -> Bool
    private var open: [String] = []

    /// Compares a model with samples, and extends it.
    ///
    /// - Parameter hasValues: A closure that returns whether a stored row has a value for an attribute for which
    ///   inference saw only null. Without stored values, such an attribute becomes a relationship if the new samples
    ///   have objects or IDs of rows.
    /// - Throws: The errors of ``InferredModel/init(from:)`` and of `hasValues`.
    package init(
        of model: SyncModel, by samples: [InferenceSample],
        hasValues: @escaping @Sendable (_ entity: String, _ attribute: String) throws -> Bool = { _, _ in false }
    ) throws {
        let samples = samples.map { sample in
            var sample = sample
            guard sample.rootEntities.contains(where: { model.entity(named: $0) != nil }) else { return sample }
            // A resource of JSON:API has its members in objects, so keys of the model do not apply to it.
            if sample.form != .jsonAPI { sample.known = model }
            if sample.entities.isEmpty, sample.primaryKey == nil {
                let parts = model.jsonKeys(of: sample.entity)
                sample.primaryKey = parts.map { SyncModel.PrimaryKey($0) }
                // A part may be a relationship to the owner of the list that contains the record.
                sample.admitsNoKey = parts?.count ?? 0 > 1
            } else if !sample.entities.isEmpty {
                sample.admitsNoKey = true
            }
            return sample
        }
        self.hasValues = hasValues
        self.model = model
        entities = model.entities
        indexes = Dictionary(model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        inferred = try InferredModel(from: samples)
        origins = Dictionary(grouping: inferred.origins, by: \.entity)
        for entity in inferred.roots { _ = try destination(entity) }
        while !open.isEmpty { try extend(open.removeFirst()) }
        for (entity, names) in replaced { update(entity) { $0.attributes.removeAll { names.contains($0.name) } } }
        guard !notes.isEmpty else { return }
        self.model = try model.replacing(entities: entities)
    }

    private mutating func match(_ inferred: String, with entity: String) {
        guard counterparts[inferred] == nil else { return }
        counterparts[inferred] = entity
        open.append(inferred)
    }

    private mutating func extend(_ name: String) throws {
        guard let counterpart = counterparts[name], let found = inferred.model.entity(named: name),
            model.entity(named: counterpart) != nil
        else { return }
        let attributes = Dictionary(found.attributes.map { ($0.name, $0) }) { first, _ in first }
        let relationships = Dictionary(found.relationships.map { ($0.name, $0) }) { first, _ in first }
        let weaker = try weakerKeys(origins[name] ?? [], of: counterpart)
        for origin in origins[name] ?? [] {
            if let attribute = attributes[origin.member] {
                try add(attribute, origin, to: counterpart, isWeaker: weaker.contains(origin.key))
            } else if let relationship = relationships[origin.member] {
                try add(relationship, origin, to: counterpart)
            }
        }
    }

    // MARK: Attributes

    /// Returns the keys that fill an attribute of the model as another key of the samples does, which is a stronger
    /// match. If two matches are equally strong, the first key keeps the attribute.
    private func weakerKeys(_ origins: [InferredOrigin], of entity: String) throws -> Set<String> {
        let names = model.compiled.names(of: try model.compiled.entity(named: entity))
        var strongest: [Int: (strength: Int, key: String)] = [:]
        var weaker: Set<String> = []
        for origin in origins {
            guard let found = names.attribute(forKey: origin.key) else { continue }
            let known = strongest[found.slot]
            if let known, known.strength <= found.strength {
                weaker.insert(origin.key)
                continue
            }
            if let known { weaker.insert(known.key) }
            strongest[found.slot] = (found.strength, origin.key)
        }
        return weaker
    }

    /// Adds an attribute, or widens the attribute of the model that the key fills.
    ///
    /// - Parameter isWeaker: Whether a stronger key of the samples fills the attribute of the model. As in inference,
    ///   the weaker key then gets its own attribute.
    private mutating func add(
        _ attribute: SyncModel.Attribute, _ origin: InferredOrigin, to entity: String, isWeaker: Bool
    ) throws {
        if !isWeaker, let known = try reader(of: origin.key, in: entity) {
            if origin.hasValues { widen(known.attribute, of: known.entity, to: attribute) }
            return
        }
        // The values of the key fit the attribute that a stronger key of other records fills.
        if isWeaker, !origin.hasValues { return }
        // An attribute with one of these names could become the primary key.
        if isWeaker, SyncModel.PrimaryKey.defaultNames.contains(attribute.name) { return }
        guard try !isRead(origin.key, of: entity) else { return }
        let added: SyncModel.Attribute
        if !isWeaker, let sibling = siblingAttribute(for: origin.key, attribute.type, in: entity) {
            added = sibling
        } else {
            let name = unusedName(attribute.name, in: entity)
            let key = remoteKey(ofAttribute: name, for: origin.key, of: entity)
            added = SyncModel.Attribute(name, attribute.type, remoteKey: key, sourceType: attribute.sourceType)
        }
        addedNames[entity, default: [:]][origin.key] = added.name
        update(entity) { $0.attributes.append(added) }
        addNote("\(entity).\(added.name)", "\(added.type), new")
    }

    /// Returns the attribute of this type that a sibling in the inheritance hierarchy reads from a key; nil if there is
    /// none. Siblings can have the same attribute, which is one column.
    private func siblingAttribute(for key: String, _ type: AttributeType, in entity: String) -> SyncModel.Attribute? {
        let compiled = model.compiled
        guard let id = compiled.entityID(entity) else { return nil }
        for other in compiled[compiled.entities[id].table].entities
        where !compiled.entity(other, isKindOf: id) && !compiled.entity(id, isKindOf: other) {
            let name = compiled.entities[other].name
            guard let index = indexes[name] else { continue }
            let names = [try? model.attribute(forKey: key, in: name), addedNames[name]?[key]]
            for attribute in entities[index].attributes where names.contains(attribute.name) {
                let remote = remoteKey(ofAttribute: attribute.name, for: key, of: entity)
                let plain = SyncModel.Attribute(
                    attribute.name, type, remoteKey: remote, sourceType: attribute.sourceType, column: attribute.column)
                if attribute == plain { return attribute }
            }
        }
        return nil
    }

    private mutating func widen(_ name: String, of entity: String, to found: SyncModel.Attribute) {
        let type = found.type
        var owner: String? = entity
        while let current = owner, let index = indexes[current] {
            if let place = attributeIndex(name, of: current, at: index) {
                let attribute = entities[index].attributes[place]
                if attribute.isTypeOpen {
                    setType(type, of: name, in: current)
                    addNote("\(current).\(name)", "\(type), previously only null")
                    return
                }
                guard let wider = Self.wider(attribute.type, for: type), attribute.transformers.isEmpty,
                    attribute.format == nil,
                    (try? model.primaryKey(of: entity)?.local) != name
                else { return }
                setType(wider, of: name, in: current)
                addNote("\(current).\(name)", "\(wider), was \(attribute.type)")
                return
            }
            owner = entities[index].parent
        }
    }

    /// Sets the type of an attribute, and of the attributes of siblings that share its column.
    private mutating func setType(_ type: AttributeType, of name: String, in entity: String) {
        let table = model.compiled.entityID(entity).map { model.compiled.entities[$0].table }
        let relatives = table.map { model.compiled[$0].entities.map { model.compiled.entities[$0].name } } ?? [entity]
        for relative in relatives {
            guard let index = indexes[relative],
                let place = entities[index].attributes.firstIndex(where: { $0.name == name })
            else { continue }
            let attribute = entities[index].attributes[place]
            if attribute.isTypeOpen { entities[index].attributes[place].sourceType = nil }
            entities[index].attributes[place].type = type
        }
    }

    private mutating func attributeIndex(_ name: String, of entity: String, at index: Int) -> Int? {
        // Attributes that are added later are not widened.
        if attributeIndexes[entity] == nil {
            let places = entities[index].attributes.enumerated().map { ($1.name, $0) }
            attributeIndexes[entity] = Dictionary(places, uniquingKeysWith: { first, _ in first })
        }
        return attributeIndexes[entity]?[name]
    }

    /// Returns a type that can store values of both types; nil to keep the first type.
    static func wider(_ type: AttributeType, for found: AttributeType) -> AttributeType? {
        let numbers: [AttributeType] = [.integer, .double, .decimal]
        switch (type, found) {
        case (_, type), (.json, _), (.binary, _), (.transformable, _), (_, .transformable), (_, .binary): return nil
        case (_, .json): return .json
        case (.string, _), (.double, .integer), (.decimal, .integer), (.decimal, .double), (.date, .integer),
            (.date, .double), (.date, .decimal):
            return nil
        case (_, .boolean): return numbers.contains(type) ? nil : .json
        case (.boolean, .integer): return .integer
        case (.boolean, .double): return .double
        case (.boolean, .decimal): return .decimal
        case (.integer, .double): return .double
        case (.integer, .decimal), (.double, .decimal): return .decimal
        default: return .string
        }
    }

    // MARK: Relationships

    private mutating func add(_ relationship: SyncModel.Relationship, _ origin: InferredOrigin, to entity: String)
        throws
    {
        if let known = try self.relationship(for: origin.key, of: entity) {
            match(relationship.destination, with: known.destination)
            return
        }
        guard try !isRead(origin.key, of: entity) else { return }
        let reader = try reader(of: origin.key, in: entity)
        let attribute = reader?.attribute
        if let reader {
            guard origin.hasValues else { return }
            guard reader.entity == entity, isOpen(reader.attribute, of: entity) else {
                return widen(reader.attribute, of: reader.entity, to: SyncModel.Attribute("", origin.type))
            }
            guard try !hasValues(entity, reader.attribute) else { return }
            replaced[entity, default: []].insert(reader.attribute)
        }
        let destination = try destination(relationship.destination)
        let rule = try rule(of: entity)
        // A relationship that was added for another key is read from this key too: `company` from `company_id`.
        if addedKeys[entity]?[origin.key] == destination { return }
        let name = relationship.name == attribute ? relationship.name : unusedName(relationship.name, in: entity)
        var added = SyncModel.Relationship(
            name, to: destination, many: relationship.isToMany, ordered: relationship.isOrdered,
            keyedBy: relationship.keyedBy)
        let isOther = origin.isForObjects && rule.map { $0.key(for: added.name) != origin.key } ?? false
        if isOther || !EntityDraft.isRead(origin.key, by: added, rule) {
            added.remoteKey = remoteKey(for: origin.key, of: entity)
        }
        update(entity) { $0.relationships.append(added) }
        if added.remoteKey == nil {
            for key in AttributeNaming.keys(for: added, rule) { addedKeys[entity, default: [:]][key] = destination }
        }
        let reason = attribute == nil ? "new" : "previously only null"
        addNote("\(entity).\(added.name)", "to \(added.isToMany ? "many" : "one") \(destination), \(reason)")
    }

    /// Returns whether an attribute that the entity itself declares had only null values so far.
    private func isOpen(_ attribute: String, of entity: String) -> Bool {
        indexes[entity].map { entities[$0].attributes.contains { $0.name == attribute && $0.isTypeOpen } } ?? false
    }

    /// Returns the entity of the model for an inferred entity, and adds an entity if there is none.
    private mutating func destination(_ name: String) throws -> String {
        if let known = counterparts[name] { return known }
        guard let found = inferred.model.entity(named: name), indexes[name] == nil else {
            match(name, with: name)
            return name
        }
        counterparts[name] = name
        var added = found
        added.relationships = []
        let spelling = found.keyCase ?? inferred.model.keyCase
        added.keyCase = spelling == model.keyCase ? nil : spelling ?? .snake
        indexes[name] = entities.count
        entities.append(added)
        addNote(name, "new, with \(TruncatedList(added.attributes.map(\.name)).text)")
        let keyed = Set((origins[name] ?? []).map(\.member))
        for var relationship in found.relationships where keyed.contains(relationship.name) {
            relationship.inverse = nil
            relationship.destination = try destination(relationship.destination)
            update(name) { $0.relationships.append(relationship) }
        }
        return name
    }

    // MARK: Names

    /// Returns an entity and its subentities. The keys that a subentity reads are not new keys of its ancestors.
    private func family(of entity: String) throws -> [CompiledEntity] {
        let compiled = try model.compiled.entity(named: entity)
        return [compiled] + compiled.family.filter { $0 != compiled.id }.map { model.compiled.entities[$0] }
    }

    /// Returns the attribute that a key is read into, of an entity or else of a subentity.
    private func reader(of key: String, in entity: String) throws -> (entity: String, attribute: String)? {
        for relative in try family(of: entity) {
            if let name = try model.attribute(forKey: key, in: relative.name) { return (relative.name, name) }
        }
        return nil
    }

    /// Returns the relationship that a key is read into, of an entity or else of a subentity.
    private func relationship(for key: String, of entity: String) throws -> SyncModel.Relationship? {
        for relative in try family(of: entity) {
            if let found = model.compiled.names(of: relative).relationships(readFrom: key).first {
                return relative.relationships[found.index].relationship
            }
        }
        return nil
    }

    /// Returns whether the key is read into a relationship or is a discriminator, or whether a path inside its object
    /// is read.
    private func isRead(_ key: String, of entity: String) throws -> Bool {
        if try relationship(for: key, of: entity) != nil { return true }
        return try family(of: entity).contains { relative in
            model.compiled.discriminators(of: relative.id).contains {
                $0.discriminator.key == key || $0.discriminator.key.hasPrefix(key + ".")
            }
                || model.compiled.names(of: relative).members(below: RemoteKeyPath.escaped(key)) != nil
        }
    }

    /// Returns the remote key for a key of the samples. The key is a path if it is inside an object that the model
    /// reads.
    private func remoteKey(for key: String, of entity: String) -> String {
        let keys = RemoteKeyPath.keys(key)
        guard keys.count > 1, let id = model.compiled.entityID(entity) else { return RemoteKeyPath.escaped(key) }
        let path = RemoteKeyPath.text(keys.dropLast())
        let isInside =
            model.compiled.names(of: model.compiled.entities[id]).members(below: path) != nil
            || model.compiled.discriminators(of: id).contains { $0.discriminator.key.hasPrefix(path + ".") }
        return isInside ? RemoteKeyPath.text(keys) : RemoteKeyPath.escaped(key)
    }

    private mutating func unusedName(_ name: String, in entity: String) -> String {
        let id = model.compiled.entityID(entity).map { model.compiled[model.compiled.entities[$0].table].root }
        let root = id.map { model.compiled.entities[$0].name } ?? entity
        if usedNames[root] == nil { usedNames[root] = UniqueNames(names(around: root)) }
        return usedNames[root]?.reserve(name) ?? name
    }

    /// Returns the names of all members of an entity, and of the other entities in its table before the evolution.
    private func names(around entity: String) -> [String] {
        let own =
            indexes[entity].map { entities[$0].attributes.map(\.name) + entities[$0].relationships.map(\.name) } ?? []
        guard let compiled = model.compiled.entityID(entity).map({ model.compiled.entities[$0] }) else { return own }
        return model.compiled[compiled.table].entities.reduce(into: own) { names, relative in
            let found = model.compiled.entities[relative]
            names += Array(found.slotByName.keys) + found.relationships.map(\.name)
        }
    }

    /// Returns the remote key of an attribute; nil if the naming rules read the key into the attribute and export the
    /// attribute under the key.
    private func remoteKey(ofAttribute name: String, for key: String, of entity: String) -> String? {
        let alone = [(0, SyncModel.Attribute("id", .integer)), (1, SyncModel.Attribute(name, .string))]
        let rule = try? rule(of: entity)
        let names = EntityKeyMap(alone, [], lineage: ["Sample"], keyCase: rule)
        let isOther = (rule ?? .snake).key(for: name) != key
        return isOther || names.attribute(forKey: key)?.slot != 1 ? remoteKey(for: key, of: entity) : nil
    }

    private func rule(of entity: String) throws -> KeyCase? {
        guard let id = model.compiled.entityID(entity) else { return model.keyCase }
        return model.compiled.rules(of: model.compiled.entities[id]).keys
    }

    private mutating func update(_ entity: String, _ change: (inout SyncModel.Entity) -> Void) {
        if let index = indexes[entity] { change(&entities[index]) }
    }

    private mutating func addNote(_ place: String, _ message: String) { notes.append(.init(place, message)) }
}
