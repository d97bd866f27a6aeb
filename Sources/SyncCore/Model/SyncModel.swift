/// The entities of a store. Validated and immutable. Models are equal if their entities and key rules are; transformers do
/// not count.
///
/// Create it from a schema file, a Core Data model, or entities declared in Swift:
///
/// ```swift
/// let model = try SyncModel(contentsOf: url)
/// let other = try SyncModel(entities: [SyncModel.Entity("User", attributes: [.init("id", .integer)])])
/// ```
public struct SyncModel: Sendable, Hashable {
    /// The entities in name order, with completed inverses.
    public let entities: [SyncModel.Entity]
    /// The key rules of all entities.
    package let rules: KeyRules
    /// The spelling of JSON keys, for entities that declare none. If it is nil, several spellings are read, and exports
    /// write snake_case.
    package var keys: KeyCase? { rules.keys }
    /// The patterns of ignored keys, for all entities. See ``SyncModel/Entity/ignore``.
    package var ignore: [String] { rules.ignore }

    private let compilation: Uncompared<CompiledModel>
    private var registered = Uncompared<[String: AttributeTransformer]>([:])

    /// The compiled model, created once.
    package var compiled: CompiledModel { compilation.value }

    /// The registered transformers by name. See ``registering(_:)``.
    package var transformers: [String: AttributeTransformer] { registered.value }

    /// Validates the entities, and completes inverses that only one side names.
    ///
    /// - Parameters:
    ///   - keys: The spelling of JSON keys, for entities that declare none: `user-id` with `.kebab`.
    ///   - ignore: The patterns of ignored keys: `["*_url", "node_id"]`.
    /// - Throws: ``SyncError`` `invalidModel` with all problems.
    public init(entities: [SyncModel.Entity], keys: KeyCase? = nil, ignore: [String] = []) throws {
        try self.init(ModelDraft(entities: entities, rules: KeyRules(keys: keys, ignore: ignore)))
    }

    /// Validates the declarations of a model source.
    package init(_ draft: ModelDraft) throws {
        let checked = try ModelValidator.validated(draft)
        self.entities = checked
        self.rules = draft.rules
        compilation = Uncompared(CompiledModel(checked, draft.rules))
        try ModelValidator.checkTables(of: compiled)
    }

    /// Returns the entity with a name; nil if the model has none.
    public func entity(named name: String) -> SyncModel.Entity? {
        compiled.entityID(name).map { entities[$0] }
    }

    /// Returns the model with transformers registered. A later transformer with the same name replaces an earlier one.
    public func registering(_ transformers: AttributeTransformer...) -> SyncModel {
        registering(transformers)
    }

    /// Returns the model with transformers registered.
    package func registering(_ transformers: [AttributeTransformer]) -> SyncModel {
        var model = self
        for transformer in transformers { model.registered.value[transformer.name] = transformer }
        return model
    }

    /// Returns a model of other entities, with the same key rules and transformers.
    ///
    /// - Throws: ``SyncError`` `invalidModel`.
    package func replacing(entities: [SyncModel.Entity]) throws -> SyncModel {
        var model = try SyncModel(ModelDraft(entities: entities, rules: rules))
        model.registered = registered
        return model
    }
}

// MARK: - Naming

extension SyncModel {
    /// Returns the key that an attribute is exported with.
    ///
    /// It is the remote key of the attribute, if there is one. It is `id` for `id` and `remoteID`. A reserved word
    /// loses the entity's name (`userType` → `type`), unless that key belongs to another attribute. Otherwise it is the
    /// name in the spelling.
    ///
    /// - Parameters:
    ///   - keyCase: The spelling; nil for that of the entity or the model, else snake_case. camelCase changes a name
    ///     only if the model declares it: otherwise `firstName` would not be read as an attribute named `first_name`.
    ///   - nested: Whether the row is inside nested attributes, where `destroy` becomes `_destroy`.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`.
    package func remoteKey(
        forAttribute name: String, of entity: String, case keyCase: KeyCase? = nil, nested: Bool = false
    ) throws -> String {
        let compiled = try self.compiled.entity(named: entity)
        guard let slot = compiled.slotByName[name] else {
            throw SyncError(.unknownAttribute, "unknown attribute '\(name)' of \(entity)", entity: entity)
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

    /// Returns the attribute that a JSON key is read as; nil if there is none.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package func attribute(forKey key: String, in entity: String) throws -> String? {
        let compiled = try self.compiled.entity(named: entity)
        let slot = self.compiled.names(of: compiled).attribute(forKey: key)?.slot
        return slot.map { self.compiled[compiled.table].attributes[$0].name }
    }

    /// Returns the primary key attribute of an entity and its key in JSON; nil for a keyless entity and for a composite
    /// key (see ``primaryKeyParts(of:)``).
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package func primaryKey(
        of entity: String
    ) throws -> (local: String, remote: String, attribute: SyncModel.Attribute)? {
        let compiled = try self.compiled.entity(named: entity)
        guard let slot = compiled.keySlot else { return nil }
        let attribute = self.compiled[compiled.table].attributes[slot]
        let remote = attribute.remoteKey ?? remoteKeyName(ofKey: attribute.name, compiled)
        return (attribute.name, remote, attribute)
    }

    /// Returns the names of the parts of an entity's key, and their keys in JSON, in order; empty for a keyless entity.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package func primaryKeyParts(of entity: String) throws -> [(local: String, remote: String)] {
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

    /// Returns the to-one relationship of an entity to itself, which must be null for a row to be in the default scope.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package func rootScope(of entity: String) throws -> String? {
        try compiled.entity(named: entity).rootScope?.name
    }
}

// MARK: - Transformers

extension SyncModel {
    /// A transformer that the model names and that is not registered.
    package struct MissingTransformer: Sendable, Hashable {
        /// The entity that declares the attribute.
        package var entity: String
        /// The attribute that names the transformer.
        package var attribute: String
        /// The name of the transformer.
        package var name: String
    }

    /// The transformers that attributes name and that are neither registered nor built in, in the order of the model.
    package var missingTransformers: [MissingTransformer] {
        entities.flatMap { entity in
            entity.attributes.flatMap { attribute in
                attribute.transformers.filter { transformer(named: $0) == nil }
                    .map { MissingTransformer(entity: entity.name, attribute: attribute.name, name: $0) }
            }
        }
    }

    /// Rejects a model with missing transformers, since a sync would store values that were not transformed.
    ///
    /// - Throws: ``SyncError`` `missingTransformer` with the path of each attribute.
    package func requireTransformers() throws {
        let missing = missingTransformers
        guard !missing.isEmpty else { return }
        let names = missing.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let problems = missing.map { missing in
            SyncDiagnostic(
                .missingTransformer,
                path: ModelPath.attribute(missing.attribute, of: missing.entity)["transformer"].text,
                message: "no transformer '\(missing.name)' is registered")
        }
        throw SyncError(
            .missingTransformer,
            "the model names transformers that are not registered: \(TruncatedList(names.map { "'\($0)'" }).text)",
            problems: problems)
    }

    /// Returns the registered or built-in transformer with a name; nil if there is none.
    package func transformer(named name: String) -> AttributeTransformer? {
        transformers[name] ?? StandardTransformer(rawValue: name)?.transformer
    }

    /// Returns the conversion of an attribute's values; nil if the coercion table applies.
    package func conversion(of attribute: SyncModel.Attribute) -> ValueConversion? {
        if attribute.transformers.isEmpty, attribute.format == nil { return nil }
        return ValueConversion(
            attribute.transformers.compactMap(transformer(named:)), attribute.format, as: attribute.type)
    }

    /// Returns the conversion of incoming values, which also checks that they fit the Swift type.
    func mappingConversion(of attribute: SyncModel.Attribute, check: ValueCheck?) -> ValueConversion? {
        guard let check else { return conversion(of: attribute) }
        return ValueConversion(
            attribute.transformers.compactMap(transformer(named:)), attribute.format, as: attribute.type,
            check: attribute.type == .transformable ? nil : check)
    }
}
