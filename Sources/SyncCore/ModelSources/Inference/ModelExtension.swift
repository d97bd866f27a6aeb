/// A model with what sample JSON has beyond it: nothing of the model is removed, renamed or made narrower.
///
/// ```swift
/// let found = try ModelExtension(of: stack.model, by: [InferenceSample(json, entity: "User")])
/// for remark in found.remarks { print(remark) }  // User.nickname: string, new
/// ```
public struct ModelExtension: Sendable {
    /// The model, extended.
    public private(set) var model: Model
    /// What was added or widened, in the order it was found; empty if the samples have nothing new.
    public private(set) var remarks: [InferenceRemark] = []

    private var entities: [Entity]
    private let inferred: InferredModel
    /// Inferred entity → the entity of the model it is, or is added as.
    private var counterparts: [String: String] = [:]
    private var open: [String] = []

    /// Compares a model with what the samples look like.
    ///
    /// - Throws: What inferring a model throws; ``SyncError`` `unknownEntity` for a sample of an entity that the model
    ///   does not have.
    public init(of model: Model, by samples: [InferenceSample]) throws {
        let samples = try samples.map { sample in
            var sample = sample
            if sample.primaryKey == nil { sample.primaryKey = try model.primaryKey(of: sample.entity)?.remote }
            return sample
        }
        self.model = model
        entities = model.entities
        inferred = try InferredModel(from: samples)
        for sample in samples { pair(sample.entity, with: sample.entity) }
        while let next = open.popLast() { try extend(next) }
        guard !remarks.isEmpty else { return }
        var extended = try Model(entities: entities)
        for transformer in model.transformers.values { extended = extended.registering(transformer) }
        self.model = extended
    }

    private mutating func pair(_ inferred: String, with entity: String) {
        guard counterparts[inferred] == nil else { return }
        counterparts[inferred] = entity
        open.append(inferred)
    }

    private mutating func extend(_ name: String) throws {
        guard let counterpart = counterparts[name], let found = inferred.model.entity(named: name),
            model.entity(named: counterpart) != nil
        else { return }
        for origin in inferred.origins where origin.entity == name {
            if let attribute = found.attributes.first(where: { $0.name == origin.member }) {
                try add(attribute, origin, to: counterpart)
            } else if let relationship = found.relationships.first(where: { $0.name == origin.member }) {
                try add(relationship, origin, to: counterpart)
            }
        }
    }

    // MARK: Attributes

    private mutating func add(_ attribute: Attribute, _ origin: InferredOrigin, to entity: String) throws {
        if let known = try model.attribute(forKey: origin.key, in: entity) {
            if origin.hasValues { widen(known, of: entity, to: attribute.type) }
            return
        }
        guard try !isRead(origin.key, of: entity) else { return }
        var added = Attribute(unusedName(attribute.name, in: entity), attribute.type)
        try place(&added.remoteKey, added.name, for: origin.key, entity)
        update(entity) { $0.attributes.append(added) }
        note("\(entity).\(added.name)", "\(added.type), new")
    }

    private mutating func widen(_ name: String, of entity: String, to type: AttributeType) {
        var owner: String? = entity
        while let current = owner, let index = entities.firstIndex(where: { $0.name == current }) {
            if let place = entities[index].attributes.firstIndex(where: { $0.name == name }) {
                let attribute = entities[index].attributes[place]
                guard let wider = Self.wider(attribute.type, for: type), attribute.transformer == nil,
                    (try? model.primaryKey(of: entity)?.local) != name
                else { return }
                entities[index].attributes[place].type = wider
                note("\(current).\(name)", "\(wider), was \(attribute.type)")
                return
            }
            owner = entities[index].parent
        }
    }

    /// The type that also keeps values that look like another one; nil if this one does.
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

    private mutating func add(_ relationship: Relationship, _ origin: InferredOrigin, to entity: String) throws {
        if let known = try self.relationship(for: origin.key, of: entity) {
            pair(relationship.destination, with: known.destination)
            return
        }
        guard try model.attribute(forKey: origin.key, in: entity) == nil, try !isRead(origin.key, of: entity) else {
            return
        }
        let destination = try destination(relationship.destination)
        var added = Relationship(
            unusedName(relationship.name, in: entity), to: destination, many: relationship.isToMany)
        let reads = AttributeNaming.objectKeys(for: added) + AttributeNaming.idKeys(for: added)
        if !reads.contains(origin.key) { added.remoteKey = origin.key }
        update(entity) { $0.relationships.append(added) }
        note("\(entity).\(added.name)", "to \(added.isToMany ? "many" : "one") \(destination), new")
    }

    /// The entity of the model that an inferred one is; added if there is none.
    private mutating func destination(_ name: String) throws -> String {
        if let known = counterparts[name] { return known }
        guard let found = inferred.model.entity(named: name), !entities.contains(where: { $0.name == name }) else {
            pair(name, with: name)
            return name
        }
        counterparts[name] = name
        var added = found
        added.relationships = []
        entities.append(added)
        note(name, "new, with \(ShortList(added.attributes.map(\.name)).text)")
        let keyed = Set(inferred.origins.filter { $0.entity == name }.map(\.member))
        for var relationship in found.relationships where keyed.contains(relationship.name) {
            relationship.inverse = nil
            relationship.destination = try destination(relationship.destination)
            update(name) { $0.relationships.append(relationship) }
        }
        return name
    }

    // MARK: Names

    private func relationship(for key: String, of entity: String) throws -> Relationship? {
        try model.compiled.entity(named: entity).relationships.map(\.relationship).first {
            (AttributeNaming.objectKeys(for: $0) + AttributeNaming.idKeys(for: $0)).contains(key)
        }
    }

    /// Whether something is read from the key or from inside the object under it.
    private func isRead(_ key: String, of entity: String) throws -> Bool {
        if try relationship(for: key, of: entity) != nil { return true }
        let compiled = try model.compiled.entity(named: entity)
        let attributes = compiled.slots.map { model.compiled.trees[compiled.tree].attributes[$0].remoteKey }
        let paths = attributes + compiled.relationships.map(\.relationship.remoteKey)
        return paths.contains { $0?.hasPrefix(key + ".") ?? false }
    }

    private func unusedName(_ name: String, in entity: String) -> String {
        var taken: Set<String> = []
        if let compiled = try? model.compiled.entity(named: entity) {
            for relative in model.compiled.trees[compiled.tree].entities {
                let found = model.compiled.entities[relative]
                taken.formUnion(found.slotByName.keys.map { $0.lowercased() })
                taken.formUnion(found.relationships.map { $0.name.lowercased() })
            }
        }
        let own = entities.first { $0.name == entity }
        taken.formUnion((own?.attributes ?? []).map { $0.name.lowercased() })
        taken.formUnion((own?.relationships ?? []).map { $0.name.lowercased() })
        return InferredNames.unique(name, &taken)
    }

    /// Gives an attribute a remote key where its name would not be read from the key.
    private func place(_ remoteKey: inout String?, _ name: String, for key: String, _ entity: String) throws {
        let alone = try Model(entities: [
            Entity("Sample", attributes: [Attribute("id", .integer), Attribute(name, .string)])
        ])
        if try alone.attribute(forKey: key, in: "Sample") != name { remoteKey = key }
    }

    private mutating func update(_ entity: String, _ change: (inout Entity) -> Void) {
        guard let index = entities.firstIndex(where: { $0.name == entity }) else { return }
        change(&entities[index])
    }

    private mutating func note(_ place: String, _ message: String) { remarks.append(.init(place, message)) }
}
