/// A validated, immutable model of the entities of a store. Two models are equal if they have equal entities, the same
/// ``KeyCase`` and equal patterns of ignored JSON keys. Registered transformers are not compared.
///
/// Create a model from a schema file, a Core Data model, or entities declared in Swift:
///
/// ```swift
/// let model = try SyncModel(contentsOf: url)
/// let other = try SyncModel(entities: [SyncModel.Entity("User", attributes: [.init("id", .integer)])])
/// ```
public struct SyncModel: Sendable, Hashable {
    /// The entities, sorted by name. In a pair of inverse relationships, each relationship names its inverse.
    public let entities: [SyncModel.Entity]
    /// The rules for JSON keys that apply to all entities.
    package let rules: KeyRules
    /// The spelling of JSON keys, for entities that declare no spelling. If the value is nil, a sync reads several
    /// spellings, and an export writes snake_case.
    package var keyCase: KeyCase? { rules.keyCase }
    /// The patterns of JSON keys that a sync ignores in the records of all entities. See
    /// ``SyncModel/Entity/ignoredKeys``.
    package var ignoredKeys: [String] { rules.ignoredKeys }

    private let compilation: EqualityIgnored<CompiledModel>
    private var registered = EqualityIgnored<[String: AttributeTransformer]>([:])

    /// The model with all names resolved to indexes.
    package var compiled: CompiledModel { compilation.value }

    /// The registered transformers by name. See ``registering(_:)``.
    package var transformers: [String: AttributeTransformer] { registered.value }

    /// Creates a model from entities, and validates the model. If only one of two inverse relationships names its
    /// inverse, the initializer sets the inverse of the other relationship.
    ///
    /// - Parameters:
    ///   - entities: The entities, in any order.
    ///   - keyCase: The spelling of JSON keys, for entities that declare no spelling. If the value is nil, a sync reads
    ///     several spellings, and an export writes snake_case.
    ///   - ignoredKeys: The patterns of JSON keys that a sync ignores, such as `["*_url", "node_id"]`.
    /// - Throws: ``SyncError`` `invalidModel`, with all problems found.
    public init(entities: [SyncModel.Entity], keyCase: KeyCase? = nil, ignoredKeys: [String] = []) throws {
        try self.init(ModelDraft(entities: entities, rules: KeyRules(keyCase: keyCase, ignoredKeys: ignoredKeys)))
    }

    /// Creates a model from a draft, and validates the model.
    ///
    /// - Throws: ``SyncError`` `invalidModel`, with all problems found.
    package init(_ draft: ModelDraft) throws {
        let checked = try ModelValidator.validated(draft)
        self.entities = checked
        self.rules = draft.rules
        compilation = EqualityIgnored(CompiledModel(checked, draft.rules))
        try ModelValidator.checkTables(of: compiled)
    }

    /// Returns the entity with the given name, or nil if the model has no such entity.
    public func entity(named name: String) -> SyncModel.Entity? {
        compiled.entityID(name).map { entities[$0] }
    }

    /// Returns a copy of the model in which the given transformers are registered. A transformer replaces a registered
    /// or built-in transformer with the same name.
    public func registering(_ transformers: AttributeTransformer...) -> SyncModel {
        registering(transformers)
    }

    /// Returns a copy of the model in which the given transformers are registered.
    package func registering(_ transformers: [AttributeTransformer]) -> SyncModel {
        var model = self
        for transformer in transformers { model.registered.value[transformer.name] = transformer }
        return model
    }

    /// Returns a copy of the model in which the transformers of another model are registered.
    package func registering(transformersOf other: SyncModel) -> SyncModel {
        registering(Array(other.registered.value.values))
    }

    /// Returns a model of other entities, with the rules for JSON keys and the transformers of this model.
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
    /// Returns the JSON key that an export writes for an attribute.
    ///
    /// The key is the first of these that applies:
    ///
    /// 1. The remote key of the attribute.
    /// 2. `_destroy` for an attribute `destroy`, if `nested` is true.
    /// 3. A short key in the given spelling: `id` for `id` and `remoteID`, or a reserved word without the entity's
    ///    name, such as `type` for `userType`. This rule applies only if a sync reads the attribute from that key.
    /// 4. The name of the attribute in the given spelling.
    ///
    /// - Parameters:
    ///   - keyCase: The spelling. If the value is nil, the spelling of the entity or the model applies, or else
    ///     snake_case. `.camel` changes a name only if the model declares `.camel`, because a sync otherwise does not
    ///     read `firstName` as the attribute `first_name`.
    ///   - nested: Whether the record is inside the nested attributes of Rails (`notes_attributes`).
    /// - Throws: ``SyncError`` `unknownEntity` or `unknownAttribute`.
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

    /// Returns the name of the attribute that a sync reads from a JSON key, or nil if there is no such attribute.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package func attribute(forKey key: String, in entity: String) throws -> String? {
        let compiled = try self.compiled.entity(named: entity)
        let slot = self.compiled.names(of: compiled).attribute(forKey: key)?.slot
        return slot.map { self.compiled[compiled.table].attributes[$0].name }
    }

    /// Returns the primary key attribute of an entity, and the JSON key of the attribute. Returns nil if the entity is
    /// keyless, or if the primary key is not one attribute. See also ``primaryKeyParts(of:)``.
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

    /// Returns the name and the JSON key of each part of an entity's primary key, in order. The array is empty for a
    /// keyless entity.
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
}

// MARK: - Transformers

extension SyncModel {
    /// A transformer that an attribute names and that is neither registered nor built in.
    package struct MissingTransformer: Sendable, Hashable {
        /// The entity that declares the attribute.
        package var entity: String
        /// The attribute that names the transformer.
        package var attribute: String
        /// The name of the transformer.
        package var name: String
    }

    /// The transformers that attributes name and that are neither registered nor built in, in the order of the entities
    /// and attributes.
    package var missingTransformers: [MissingTransformer] {
        entities.flatMap { entity in
            entity.attributes.flatMap { attribute in
                attribute.transformers.filter { transformer(named: $0) == nil }
                    .map { MissingTransformer(entity: entity.name, attribute: attribute.name, name: $0) }
            }
        }
    }

    /// Checks that no transformer is missing. Without this check, a sync would store values that were not transformed.
    ///
    /// - Throws: ``SyncError`` `missingTransformer`, with the path of each attribute.
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

    /// Returns the registered or built-in transformer with the given name, or nil if there is no such transformer.
    package func transformer(named name: String) -> AttributeTransformer? {
        transformers[name] ?? StandardTransformer(rawValue: name)?.transformer
    }

    /// Returns the conversion of an attribute's values, or nil if there is no transformer, no format, no check and no
    /// limit. ``Coercion`` then converts the values.
    ///
    /// - Parameters:
    ///   - check: The check of values in a payload. It does not apply to a transformable attribute.
    ///   - limit: The limit of the store for values of a payload.
    package func conversion(
        of attribute: SyncModel.Attribute, check: ValueCheck? = nil, limit: ValueLimit? = nil
    ) -> ValueConversion? {
        if attribute.transformers.isEmpty, attribute.format == nil, check == nil, limit == nil { return nil }
        let transformers = attribute.transformers.compactMap(transformer(named:))
        // Without a transformer, a transformable attribute has no values.
        if attribute.type == .transformable, transformers.isEmpty { return nil }
        return ValueConversion(
            transformers, attribute.format, as: attribute.type,
            check: attribute.type == .transformable ? nil : check, limit: limit)
    }
}

// MARK: - Draft

/// The entities of a model before validation, with the problems found in the model file.
package struct ModelDraft: Sendable {
    package var entities: [SyncModel.Entity] = []
    /// The rules for JSON keys that apply to all entities.
    package var rules = KeyRules()
    /// The problems found in the file.
    package var problems: [SyncDiagnostic] = []
    /// The entities, attributes and relationships (`User`, `User.company`) that could not be read completely.
    /// Validation does not report problems that these gaps cause.
    package var unreadable: Set<String> = []

    mutating func report(_ path: ModelPath, _ message: String) {
        problems.append(SyncDiagnostic(.invalidModel, path: path.text, message: message))
    }
}

/// A location in a model, as a JSON path in a schema file: `entities.User.attributes.age.type`.
package struct ModelPath: Sendable {
    private let keys: [String]

    /// The path of the root object.
    static let root = ModelPath(keys: [])

    package static func entity(_ name: String) -> ModelPath { ModelPath.root["entities"][name] }

    package static func attribute(_ name: String, of entity: String) -> ModelPath {
        .entity(entity)["attributes"][name]
    }

    package static func relationship(_ name: String, of entity: String) -> ModelPath {
        .entity(entity)["relationships"][name]
    }

    package subscript(key: String) -> ModelPath { ModelPath(keys: keys + [key]) }

    /// The text of the path. It is computed only for a problem, because validation creates thousands of paths.
    package var text: String {
        keys.reduce(into: "$") { text, key in
            if !Self.isPlain(key) {
                text += "[\(JSONText.quoted(key))]"
            } else if text == "$" {
                text = key
            } else {
                text += ".\(key)"
            }
        }
    }

    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "$" }
    }
}

// MARK: - What equality ignores

/// The value of a stored property that synthesized `==` and `hash(into:)` must ignore. Any two instances are equal.
package struct EqualityIgnored<Value: Sendable>: Sendable, Hashable {
    package var value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
