/// The entities of a store, checked together. Immutable.
///
/// Made from a schema file, a Core Data model, or entities declared in Swift:
///
/// ```swift
/// let model = try Model(contentsOf: url)
/// let other = try Model(entities: [Entity("User", attributes: [Attribute("id", .integer)])])
/// ```
public struct Model: Sendable, Hashable {
    /// The entities in name order, inverses completed.
    public let entities: [Entity]

    /// What mapping and storing need, worked out once.
    package let compiled: CompiledModel

    /// The code behind the transformers that attributes name. See ``registering(_:)``.
    package private(set) var transformers: [String: AttributeTransformer] = [:]

    /// Checks the entities together and completes inverses that only one side names.
    ///
    /// - Throws: ``SyncError`` with the code `invalidModel` and every problem found.
    public init(entities: [Entity]) throws {
        try self.init(ModelDraft(entities: entities))
    }

    /// Checks what a model source declares.
    package init(_ draft: ModelDraft) throws {
        let checked = try ModelValidator.validated(draft)
        self.entities = checked
        self.compiled = CompiledModel(checked)
        try ModelValidator.checkTables(of: compiled)
    }

    /// The entity with this name, if the model has it.
    public func entity(named name: String) -> Entity? {
        compiled.entityID(name).map { entities[$0] }
    }

    /// The same model with code for the transformers it names; a later one of the same name replaces an earlier one.
    public func registering(_ transformers: AttributeTransformer...) -> Model {
        var model = self
        for transformer in transformers { model.transformers[transformer.name] = transformer }
        return model
    }

    /// The registered transformer of an attribute.
    package func transformer(of attribute: Attribute) -> AttributeTransformer? {
        attribute.transformer.flatMap { transformers[$0] }
    }

    /// Whether both declare the same entities.
    public static func == (left: Model, right: Model) -> Bool { left.entities == right.entities }
    /// Hashes the entities.
    public func hash(into hasher: inout Hasher) { hasher.combine(entities) }
}
