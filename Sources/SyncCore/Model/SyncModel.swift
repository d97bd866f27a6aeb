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
