extension SyncModel {
    /// A value that every row of an entity has.
    public struct Attribute: Sendable, Hashable {
        /// The local name, which is also the name of the column unless ``column`` says otherwise.
        public var name: String
        /// What values it has.
        public var type: AttributeType
        /// The JSON key that fills the attribute besides its own name; dots walk into nested objects, but
        /// for `\.`, a dot of the key itself.
        public var remoteKey: String?
        /// Whether the model marks the attribute as the primary key, or a part of it. See ``SyncModel/Entity/primaryKey``.
        public var isPrimaryKey: Bool
        /// Whether the value may be nil. If not, the column is `NOT NULL`.
        public var isOptional: Bool
        /// The value of new rows that are given none.
        public var defaultValue: StoredValue?
        /// The names of the value transformers that run instead of the built-in coercion, one after the other; those of
        /// ``BuiltInTransformer`` and those that are registered on the model.
        public var transformers: [String]
        /// How a service writes the instants of a date; nil for ISO 8601 and Unix time by its size.
        public var format: AttributeFormat?
        /// Whether exports contain it.
        public var isExportable: Bool
        /// The name this attribute had in an earlier model.
        public var renamedFrom: String?
        /// The type's name in the source of the model, for display (`Integer 32`).
        public var sourceType: String?
        /// The column its values are in, if that is not called as the attribute.
        public var column: String?
        /// What the Swift type of a property has room for, where the attribute is one's.
        package var check: ValueCheck?

        /// The first of ``transformers``, and mostly the only one.
        public var transformer: String? {
            get { transformers.first }
            set { transformers = newValue.map { [$0] } ?? [] }
        }

        /// An attribute of the given name and type; optional, exported and without default unless said otherwise.
        public init(
            _ name: String, _ type: AttributeType, remoteKey: String? = nil, isPrimaryKey: Bool = false,
            isOptional: Bool = true, defaultValue: StoredValue? = nil, transformer: String? = nil,
            isExportable: Bool = true, renamedFrom: String? = nil, sourceType: String? = nil,
            transformers: [String] = [],
            format: AttributeFormat? = nil, column: String? = nil
        ) {
            self.name = name
            self.type = type
            self.remoteKey = remoteKey
            self.isPrimaryKey = isPrimaryKey
            self.isOptional = isOptional
            self.defaultValue = defaultValue
            self.transformers = (transformer.map { [$0] } ?? []) + transformers
            self.format = format
            self.isExportable = isExportable
            self.renamedFrom = renamedFrom
            self.sourceType = sourceType
            self.column = column
        }
    }
}
