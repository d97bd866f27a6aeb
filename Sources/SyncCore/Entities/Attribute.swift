/// A value that every row of an entity has.
public struct Attribute: Sendable, Hashable {
    /// The local name, which is also the name of the column.
    public var name: String
    /// What values it has.
    public var type: AttributeType
    /// The JSON key that fills the attribute besides its own name; dots walk into nested objects.
    public var remoteKey: String?
    /// Whether the model marks the attribute as the primary key, or a part of it. See ``Entity/primaryKey``.
    public var isPrimaryKey: Bool
    /// Whether the value may be nil. If not, the column is `NOT NULL`.
    public var isOptional: Bool
    /// The value of new rows that are given none.
    public var defaultValue: StoredValue?
    /// The name of the value transformer that runs instead of the built-in coercion.
    public var transformer: String?
    /// Whether exports contain it.
    public var isExportable: Bool
    /// The name this attribute had in an earlier model.
    public var renamedFrom: String?
    /// The type's name in the source of the model, for display (`Integer 32`).
    public var sourceType: String?

    /// An attribute of the given name and type; optional, exported and without default unless said otherwise.
    public init(
        _ name: String, _ type: AttributeType, remoteKey: String? = nil, isPrimaryKey: Bool = false,
        isOptional: Bool = true, defaultValue: StoredValue? = nil, transformer: String? = nil,
        isExportable: Bool = true, renamedFrom: String? = nil, sourceType: String? = nil
    ) {
        self.name = name
        self.type = type
        self.remoteKey = remoteKey
        self.isPrimaryKey = isPrimaryKey
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.transformer = transformer
        self.isExportable = isExportable
        self.renamedFrom = renamedFrom
        self.sourceType = sourceType
    }
}
