/// The entities of a store, checked together. Immutable.
///
/// Made from a schema file, a Core Data model, or entities declared in Swift:
///
/// ```swift
/// let model = try SyncModel(contentsOf: url)
/// let other = try Model(entities: [Entity("User", attributes: [Attribute("id", .integer)])])
/// ```
public struct SyncModel: Sendable, Hashable {
    /// The entities in name order, inverses completed.
    public let entities: [SyncModel.Entity]
    /// What holds for the keys of all entities.
    package let rules: KeyRules
    /// How the keys of JSON are spelled where an entity does not say; nil for names as they come, and snake_case in exports.
    public var keys: KeyCase? { rules.keys }
    /// Patterns of keys that nothing is wanted of, in whatever entity. See ``SyncModel/Entity/ignore``.
    public var ignore: [String] { rules.ignore }

    /// What mapping and storing need, worked out once.
    package let compiled: CompiledModel

    /// The code behind the transformers that attributes name. See ``registering(_:)``.
    package private(set) var transformers: [String: AttributeTransformer] = [:]

    /// Checks the entities together and completes inverses that only one side names.
    ///
    /// - Parameters:
    ///   - keys: How the keys of JSON are spelled where an entity does not say: `user-id` with `.kebab`.
    ///   - ignore: Patterns of keys that nothing is wanted of: `["*_url", "node_id"]`.
    /// - Throws: ``SyncError`` with the code `invalidModel` and every problem found.
    public init(entities: [SyncModel.Entity], keys: KeyCase? = nil, ignore: [String] = []) throws {
        try self.init(ModelDraft(entities: entities, rules: KeyRules(keys: keys, ignore: ignore)))
    }

    /// Checks what a model source declares.
    package init(_ draft: ModelDraft) throws {
        let checked = try ModelValidator.validated(draft)
        self.entities = checked
        self.rules = draft.rules
        self.compiled = CompiledModel(checked, draft.rules)
        try ModelValidator.checkTables(of: compiled)
    }

    /// The entity with this name, if the model has it.
    public func entity(named name: String) -> SyncModel.Entity? {
        compiled.entityID(name).map { entities[$0] }
    }

    /// The same model with code for the transformers it names; a later one of the same name replaces an earlier one.
    public func registering(_ transformers: AttributeTransformer...) -> SyncModel {
        registering(transformers)
    }

    /// The same model with code for the transformers it names.
    public func registering(_ transformers: [AttributeTransformer]) -> SyncModel {
        var model = self
        for transformer in transformers { model.transformers[transformer.name] = transformer }
        return model
    }

    /// The same rules and transformers with other entities.
    ///
    /// - Throws: ``SyncError`` `invalidModel`.
    public func replacing(entities: [SyncModel.Entity]) throws -> SyncModel {
        var model = try SyncModel(ModelDraft(entities: entities, rules: rules))
        model.transformers = transformers
        return model
    }

    /// Whether both declare the same entities and rules.
    public static func == (left: SyncModel, right: SyncModel) -> Bool {
        left.entities == right.entities && left.rules == right.rules
    }
    /// Hashes the entities.
    public func hash(into hasher: inout Hasher) { hasher.combine(entities) }
}

// MARK: - Naming

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

// MARK: - Transformers

extension SyncModel {
    /// A transformer that the model names and nobody registered.
    public struct MissingTransformer: Sendable, Hashable {
        /// The entity that declares the attribute.
        public var entity: String
        /// The attribute whose values it is for.
        public var attribute: String
        /// Its name.
        public var name: String
    }

    /// The transformers that attributes name, without those that are registered or built in, in the order of the model.
    public var missingTransformers: [MissingTransformer] {
        entities.flatMap { entity in
            entity.attributes.flatMap { attribute in
                attribute.transformers.filter { transformer(named: $0) == nil }
                    .map { MissingTransformer(entity: entity.name, attribute: attribute.name, name: $0) }
            }
        }
    }

    /// Refuses a model that names transformers which nobody registered: values would be stored that are not meant.
    ///
    /// - Throws: ``SyncError`` `missingTransformer` with each attribute's place.
    package func requireTransformers() throws {
        let missing = missingTransformers
        guard !missing.isEmpty else { return }
        let names = missing.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let problems = missing.map { missing in
            SyncError.Problem(
                path: ModelPath.attribute(missing.attribute, of: missing.entity)["transformer"].text,
                message: "no transformer '\(missing.name)' is registered")
        }
        throw SyncError(
            .missingTransformer,
            "the model names transformers that are not registered: \(TruncatedList(names.map { "'\($0)'" }).text)",
            problems: problems)
    }

    /// The transformer of a name: registered, else built in.
    package func transformer(named name: String) -> AttributeTransformer? {
        transformers[name] ?? StandardTransformer(rawValue: name)?.transformer
    }

    /// What is done with an attribute's values instead of the coercion table; nil for nothing.
    package func conversion(of attribute: SyncModel.Attribute) -> ValueConversion? {
        if attribute.transformers.isEmpty, attribute.format == nil { return nil }
        return ValueConversion(
            attribute.transformers.compactMap(transformer(named:)), attribute.format, as: attribute.type)
    }

    /// What is done with an attribute's values that come in: the same, and what the Swift type has room for.
    func mappingConversion(of attribute: SyncModel.Attribute, check: ValueCheck?) -> ValueConversion? {
        guard let check else { return conversion(of: attribute) }
        return ValueConversion(
            attribute.transformers.compactMap(transformer(named:)), attribute.format, as: attribute.type,
            check: attribute.type == .transformable ? nil : check)
    }
}
