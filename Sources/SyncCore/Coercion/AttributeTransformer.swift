/// Converts JSON to the value of an attribute and back, instead of the built-in coercion.
///
/// A model names its transformers (`"transformer": "Entities"` in a schema file, `sync.valueTransformer` in a Core Data
/// model). Register their code with the model:
///
/// ```swift
/// let entities = AttributeTransformer("Entities") { json in
///     guard case .string(let text) = json else { return nil }
///     return .string(text.replacing("&amp;", with: "&"))
/// }
/// let model = try SyncModel(contentsOf: url).registering(entities)
/// ```
///
/// Several transformers form a chain (`"transformer": ["trimmed", "Entities"]`): each converts the result of the
/// previous one. Exports run the chain in reverse. See ``StandardTransformer`` for those that are built in.
public struct AttributeTransformer: Sendable {
    /// The name that models use.
    package let name: String
    private let importing: @Sendable (JSONValue) -> StoredValue?
    private let exporting: (@Sendable (StoredValue) -> JSONValue?)?

    /// Creates a transformer.
    ///
    /// - Parameters:
    ///   - importing: Converts JSON other than null to a value; nil if it does not fit. A ``StoredValue/json(_:)`` is
    ///     coerced to the type of the attribute, as if it were in the payload. Any other value must be of that type.
    ///     For a transformable attribute the result is stored as JSON.
    ///   - exporting: Converts a value other than nil to JSON; nil omits the attribute. Without it the attribute is
    ///     never exported.
    public init(
        _ name: String, importing: @escaping @Sendable (JSONValue) -> StoredValue?,
        exporting: (@Sendable (StoredValue) -> JSONValue?)? = nil
    ) {
        self.name = name
        self.importing = importing
        self.exporting = exporting
    }

    /// Creates a transformer whose values are exported unchanged.
    init(unchangedOnExport name: String, importing: @escaping @Sendable (JSONValue) -> StoredValue?) {
        self.init(name, importing: importing) { $0.jsonForm }
        isUnchangedOnExport = true
    }

    /// Whether values are exported unchanged.
    private(set) var isUnchangedOnExport = false

    /// Converts JSON other than null; nil if it does not fit.
    package func imported(_ json: JSONValue) -> StoredValue? { importing(json) }

    /// Whether it has an exporting direction.
    package var canExport: Bool { exporting != nil }

    /// Converts a value other than nil to exported JSON; nil if that is not possible.
    package func json(_ value: StoredValue) -> JSONValue? { exporting?(value) }
}
