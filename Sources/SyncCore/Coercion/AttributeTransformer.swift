/// Turns JSON into the value of an attribute and back, instead of the built-in coercion.
///
/// A model names transformers (`"transformer": "Entities"` in a schema file, `sync.valueTransformer` in a Core Data
/// model); their code is registered on it:
///
/// ```swift
/// let entities = AttributeTransformer("Entities") { json in
///     guard case .string(let text) = json else { return nil }
///     return .string(text.replacing("&amp;", with: "&"))
/// }
/// let model = try SyncModel(contentsOf: url).registering(entities)
/// ```
///
/// Several make a chain (`"transformer": ["trimmed", "Entities"]`), of which each takes what the one before gives, and the
/// last gives first on the way back. See ``StandardTransformer`` for those that need no registering.
public struct AttributeTransformer: Sendable {
    /// The name by which models refer to it.
    public let name: String
    private let importing: @Sendable (JSONValue) -> StoredValue?
    private let exporting: (@Sendable (StoredValue) -> JSONValue?)?

    /// A transformer of both directions, or of one.
    ///
    /// - Parameters:
    ///   - importing: Gives the value for a JSON value other than null, or nil if it does not fit. A
    ///     ``StoredValue/json(_:)`` is coerced to the type of the attribute as if it had been in the payload; any other
    ///     value must be of that type. What it gives for a transformable attribute is stored as JSON.
    ///   - exporting: Gives the JSON for a value other than nil; nil leaves the attribute out. Without it the attribute
    ///     is never exported.
    public init(
        _ name: String, importing: @escaping @Sendable (JSONValue) -> StoredValue?,
        exporting: (@Sendable (StoredValue) -> JSONValue?)? = nil
    ) {
        self.name = name
        self.importing = importing
        self.exporting = exporting
    }

    /// One whose values are exported as if it were not there.
    init(unchangedOnExport name: String, importing: @escaping @Sendable (JSONValue) -> StoredValue?) {
        self.init(name, importing: importing) { $0.jsonForm }
        isUnchangedOnExport = true
    }

    /// Whether its exporting direction does nothing.
    private(set) var isUnchangedOnExport = false

    /// What it makes of JSON other than null; nil if that does not fit.
    package func imported(_ json: JSONValue) -> StoredValue? { importing(json) }

    /// Whether it has an exporting direction.
    package var canExport: Bool { exporting != nil }

    /// The JSON to export for a value other than nil; nil if there is none.
    package func json(_ value: StoredValue) -> JSONValue? { exporting?(value) }
}
