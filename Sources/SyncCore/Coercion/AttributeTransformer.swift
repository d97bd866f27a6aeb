/// A conversion of JSON to the value of an attribute and back.
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
/// previous one. Exports run the chain in reverse. Some transformers are built in: `htmlEntities`, `trimmed`,
/// `emptyAsNull`, `lowercased` and `commaSeparated`.
public struct AttributeTransformer: Sendable {
    /// The name by which models refer to the transformer.
    package let name: String
    private let importing: @Sendable (JSONValue) -> StoredValue?
    private let exporting: (@Sendable (StoredValue) -> JSONValue?)?

    /// Creates a transformer.
    ///
    /// - Parameters:
    ///   - importing: Converts a JSON value other than null; returns nil if the value is invalid. A returned
    ///     ``StoredValue/json(_:)`` is converted to the type of the attribute, like a value of the payload. Any other
    ///     value must be null or of that type. For an attribute of type json or transformable, any result is stored as
    ///     JSON.
    ///   - exporting: Converts a stored value other than null to JSON; returns nil to omit the attribute. Without this
    ///     closure, exports always omit the attribute.
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

    /// Converts a JSON value other than null; nil if it is invalid.
    package func imported(_ json: JSONValue) -> StoredValue? { importing(json) }

    /// Whether the transformer can convert stored values to JSON.
    package var canExport: Bool { exporting != nil }

    /// Converts a stored value other than null to JSON for an export; nil to omit the attribute.
    package func json(_ value: StoredValue) -> JSONValue? { exporting?(value) }
}
