/// A conversion between JSON and the values of an attribute.
///
/// A model refers to transformers by name. Schema files use `"transformer": "Entities"`, Core Data models use
/// `sync.valueTransformer`, and Swift types use `@Transformer`. Register each transformer with the model:
///
/// ```swift
/// let entities = AttributeTransformer("Entities") { json in
///     guard case .string(let text) = json else { return nil }
///     return .string(text.replacing("&amp;", with: "&"))
/// }
/// let model = try SyncModel(contentsOf: url).registering(entities)
/// ```
///
/// Several transformers form a chain (`"transformer": ["trimmed", "Entities"]`). Each transformer converts the result
/// of the previous transformer, unless that result is null. Exports run the chain in reverse. Some transformers are
/// built in: `htmlEntities`, `trimmed`, `emptyAsNull`, `lowercased` and `commaSeparated`.
public struct AttributeTransformer: Sendable {
    /// The name by which models refer to the transformer.
    package let name: String
    private let importing: @Sendable (JSONValue) -> StoredValue?
    private let exporting: (@Sendable (StoredValue) -> JSONValue?)?

    /// Creates a transformer.
    ///
    /// - Parameters:
    ///   - name: The name of the transformer in models. The transformer takes precedence over a built-in transformer of
    ///     the same name.
    ///   - importing: A function that converts a JSON value other than null, or returns nil if the value is invalid.
    ///     The result of the last transformer must be null, a value of the attribute's type, or
    ///     ``StoredValue/json(_:)``. The sync converts the JSON of a ``StoredValue/json(_:)`` to the attribute's type,
    ///     like a value of the payload. An attribute of type `json` or `transformable` stores any result as JSON.
    ///   - exporting: A function that converts a value other than null to JSON, or returns nil to omit the attribute.
    ///     An export applies the transformers of an attribute in reverse order. The function receives the stored value,
    ///     or the result of the transformer that was applied before. If a date attribute has a format, the date is
    ///     formatted first. If the function is nil, exports omit the attribute, and engines do not send the attribute.
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

    /// Converts a JSON value other than null, or returns nil if the value is invalid.
    package func imported(_ json: JSONValue) -> StoredValue? { importing(json) }

    /// Whether the transformer can convert stored values to JSON.
    package var canExport: Bool { exporting != nil }

    /// Converts a stored value other than null to JSON for an export, or returns nil to omit the attribute.
    package func json(_ value: StoredValue) -> JSONValue? { exporting?(value) }
}
