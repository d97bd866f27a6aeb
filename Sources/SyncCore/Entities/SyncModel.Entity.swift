extension SyncModel {
    /// The declaration of an entity, without inherited attributes and relationships.
    ///
    /// ``SyncModel`` validates the declarations of all entities together.
    public struct Entity: Sendable, Hashable {
        /// The name of the entity. This is also the name of the table, unless the model names another table or the
        /// entity has a parent.
        public var name: String
        /// The name of the parent entity, from which the entity inherits attributes, relationships and the primary key.
        package var parent: String?
        /// Whether the entity is abstract. An abstract entity has no rows; only its subentities have rows.
        package var isAbstract: Bool
        /// The declared primary key; nil if the entity declares none.
        ///
        /// Without a declared key, the primary key is the first of these that exists:
        ///
        /// 1. The attributes with ``SyncModel/Attribute/isPrimaryKey``.
        /// 2. The primary key of the nearest ancestor that declares or marks one.
        /// 3. The attribute `id`.
        /// 4. The attribute `remoteID`.
        package var primaryKey: SyncModel.PrimaryKey?
        /// The JSON:API resource type. If the value is nil, the type is the name of the entity, singular or plural,
        /// with any capitalization and word separators.
        package var resourceType: String?
        /// The member of a record that determines the entity of the record, within the inheritance hierarchy.
        package var discriminator: SyncModel.Discriminator?
        /// The attributes in the order of the model, without inherited attributes.
        public var attributes: [SyncModel.Attribute]
        /// The relationships in the order of the model, without inherited relationships.
        public var relationships: [SyncModel.Relationship]
        /// The name of the entity in an earlier model.
        package var renamedFrom: String?
        /// The spelling of the keys in records of the entity. If the value is nil, the spelling of the parent entity
        /// applies, or else the spelling of the model.
        package var keyCase: KeyCase?
        /// The patterns of ignored keys, such as `*_url` or `meta.*`, in addition to the patterns of the parent entity
        /// and the model. A pattern never applies to the name or remote key of an attribute or relationship.
        package var ignoredKeys: [String]
        /// The name of the table. If the value is nil, the table has the name of the entity. An entity with a parent
        /// uses the table of the parent.
        package var table: String?

        /// Creates an entity. By default the entity has no parent, no declared key, no attributes and no relationships.
        ///
        /// - Parameters:
        ///   - name: The name of the entity.
        ///   - parent: The name of the parent entity, from which the entity inherits attributes, relationships and the
        ///     primary key.
        ///   - isAbstract: Whether only subentities of the entity have rows.
        ///   - primaryKey: The primary key. If the value is nil, the key consists of the attributes with
        ///     `isPrimaryKey`, or is the key that the nearest ancestor declares or marks. If neither the entity nor an
        ///     ancestor declares or marks a key, the key is the attribute `id`, or else `remoteID`. Without these
        ///     attributes, the entity is keyless.
        ///   - attributes: The attributes, without inherited attributes.
        ///   - relationships: The relationships, without inherited relationships.
        ///   - renamedFrom: The name of the entity in an earlier model.
        ///   - keyCase: The spelling of JSON keys; nil for the spelling of the parent entity or of the model.
        ///   - ignoredKeys: The patterns of JSON keys that a sync ignores, such as `*_url`, in addition to the patterns
        ///     of the parent entity and of the model.
        ///   - resourceType: The JSON:API resource type; nil for the name of the entity, singular or plural, with any
        ///     capitalization and word separators.
        ///   - discriminator: The member of a record that determines the entity of the record.
        ///   - table: The name of the table; nil for the name of the entity. An entity with a parent uses the table of
        ///     the parent.
        public init(
            _ name: String, parent: String? = nil, isAbstract: Bool = false, primaryKey: SyncModel.PrimaryKey? = nil,
            attributes: [SyncModel.Attribute] = [], relationships: [SyncModel.Relationship] = [],
            renamedFrom: String? = nil, keyCase: KeyCase? = nil, ignoredKeys: [String] = [],
            resourceType: String? = nil,
            discriminator: SyncModel.Discriminator? = nil, table: String? = nil
        ) {
            self.name = name
            self.parent = parent
            self.isAbstract = isAbstract
            self.primaryKey = primaryKey
            self.attributes = attributes
            self.relationships = relationships
            self.renamedFrom = renamedFrom
            self.keyCase = keyCase
            self.ignoredKeys = ignoredKeys
            self.resourceType = resourceType
            self.discriminator = discriminator
            self.table = table
        }
    }
}

extension SyncModel {
    /// The primary key of an entity: one part, or the several parts of a composite key.
    ///
    /// A part is the name of an attribute or of a to-one relationship. The value of a relationship is the primary key
    /// of the referenced row. In this example, the key of `Issue` has two parts:
    ///
    /// ```swift
    /// SyncModel.Entity("Package", primaryKey: "name", attributes: [.init("name", .string)])
    /// SyncModel.Entity(
    ///     "Issue", primaryKey: ["repository", "number"], attributes: [.init("number", .integer)],
    ///     relationships: [.init("repository", to: "Repository")])
    /// ```
    public struct PrimaryKey: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        /// The names of the parts, in the order of the values in a composite key.
        package var parts: [String]

        /// Creates a key of several parts.
        package init(_ parts: [String]) { self.parts = parts }

        /// Creates a key of one part.
        package init(_ name: String) { self.init([name]) }

        /// Creates a key of one part.
        public init(stringLiteral name: String) { self.init(name) }

        /// Creates a key of the given parts.
        public init(arrayLiteral parts: String...) { self.init(parts) }

        /// The names of the attributes that can be the key of an entity that declares none, the first of them first.
        ///
        /// `SyncMacros` cannot use this module, and has the same list.
        package static let defaultNames = ["id", "remoteID"]

        /// Returns the attribute that is the key if no key is declared; nil if there is none.
        package static func defaultName(among attributes: [SyncModel.Attribute]) -> String? {
            defaultNames.first { name in attributes.contains { $0.name == name && $0.type.canBeKey } }
        }

        /// The only part; nil unless the key has exactly one part.
        package var single: String? { parts.count == 1 ? parts[0] : nil }
    }
}

extension SyncModel {
    /// The member of a record that determines the entity of the record within its inheritance hierarchy.
    public struct Discriminator: Sendable, Hashable {
        /// The handling of a record whose discriminator value is unknown.
        public enum Fallback: String, Sendable, Hashable, CaseIterable {
            /// The sync skips the record and reports a diagnostic. The sync does not delete a stored row with the key
            /// of the record.
            case skip
            /// The record belongs to the synced entity, or to the destination entity of the relationship. If that
            /// entity is abstract, the sync skips the record.
            case parent
        }

        /// A discriminator value, and the entity of records with this value.
        package struct Kind: Sendable, Hashable {
            /// The value of the member, as a string. A number is spelled as in the JSON.
            package var value: String
            /// The entity of records with this value.
            package var entity: String

            /// Creates a kind from a value and its entity.
            package init(_ value: String, _ entity: String) {
                self.value = value
                self.entity = entity
            }
        }

        /// The key of the member. Dots lead into nested objects.
        package var key: String
        /// The known values and their entities. If an entity has several values, exports write the first value.
        package var kinds: [Kind]
        /// The handling of a record whose discriminator value is unknown. A record without the member belongs to the
        /// entity that the payload or the relationship names, unless that entity is abstract.
        package var fallback: Fallback

        /// Creates a discriminator.
        ///
        /// - Parameters:
        ///   - key: The key of the member. Dots lead into nested objects.
        ///   - values: The values of the member, each with the name of an entity, such as `["dog": "Dog"]`. Write a
        ///     number as a string, spelled as in the JSON. If an entity has several values, exports write the first
        ///     value.
        ///   - fallback: The handling of a record with an unknown value.
        public init(
            _ key: String, values: KeyValuePairs<String, String>, fallback: Fallback = .skip
        ) {
            self.init(key, kinds: values.map { Kind($0.key, $0.value) }, fallback: fallback)
        }

        /// Creates a discriminator from kinds.
        package init(_ key: String, kinds: [Kind], fallback: Fallback = .skip) {
            self.key = key
            self.kinds = kinds
            self.fallback = fallback
        }
    }
}

extension SyncModel {
    /// An attribute of an entity.
    public struct Attribute: Sendable, Hashable {
        /// The name of the attribute. This is also the name of the column, unless the model names another column.
        public var name: String
        /// The type of the stored values.
        public var type: AttributeType
        /// The JSON key of the attribute. A sync also accepts the name of the attribute as a key. Dots lead into nested
        /// objects; `\.` is a dot in a key.
        package var remoteKey: String?
        /// Whether the model marks the attribute as the primary key or a part of the key. See
        /// ``SyncModel/Entity/primaryKey``.
        package var isPrimaryKey: Bool
        /// Whether the value can be nil. The column of a required attribute is `NOT NULL`, unless a subentity declares
        /// the attribute.
        package var isOptional: Bool
        /// The value of new rows whose records omit the attribute; nil if the attribute has no default value.
        package var defaultValue: StoredValue?
        /// The names of the transformers of a JSON value, in the order in which the transformers are applied. Each
        /// transformer is a ``StandardTransformer``, or is registered with the model.
        package var transformers: [String]
        /// The format of dates in JSON. If the value is nil, dates are ISO 8601 strings or Unix times. The magnitude of
        /// a Unix time determines its unit.
        package var format: AttributeFormat?
        /// Whether exports contain the attribute.
        package var isExported: Bool
        /// The name of the attribute in an earlier model.
        package var renamedFrom: String?
        /// The name of the type in the source of the model, for display (`Integer 32`).
        package var sourceType: String?
        /// The name of the column. If the value is nil, the column has the name of the attribute.
        package var column: String?
        /// The check whether values fit the type of the Swift property; nil if there is no such property, or if all
        /// values fit.
        package var check: ValueCheck?

        /// The first of the ``transformers``; nil if there are none. Setting this property replaces all transformers.
        package var transformer: String? {
            get { transformers.first }
            set { transformers = newValue.map { [$0] } ?? [] }
        }

        /// Creates an attribute. By default the attribute is optional and exported, and has no default value.
        ///
        /// - Parameters:
        ///   - name: The name of the attribute.
        ///   - type: The type of the stored values.
        ///   - remoteKey: The JSON key. A sync also accepts the name of the attribute as a key. Dots lead into nested
        ///     objects; `\.` is a dot in a key.
        ///   - isPrimaryKey: Whether the attribute is the primary key or a part of the key.
        ///   - isOptional: Whether the value can be nil. If a new row lacks a required value, a sync skips the record.
        ///   - defaultValue: The value of new rows whose records omit the attribute.
        ///   - transformer: The name of the first transformer: a built-in transformer such as `trimmed`, or a
        ///     transformer that is registered with the model.
        ///   - isExported: Whether exports, and the records that an engine sends, contain the attribute.
        ///   - renamedFrom: The name of the attribute in an earlier model.
        ///   - sourceType: The name of the type in the source of the model, for display.
        ///   - transformers: The names of further transformers, in the order in which the transformers are applied.
        ///   - format: The format of dates in JSON; nil for ISO 8601 and Unix times.
        ///   - column: The name of the column; nil for the name of the attribute.
        public init(
            _ name: String, _ type: AttributeType, remoteKey: String? = nil, isPrimaryKey: Bool = false,
            isOptional: Bool = true, defaultValue: StoredValue? = nil, transformer: String? = nil,
            isExported: Bool = true, renamedFrom: String? = nil, sourceType: String? = nil,
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
            self.isExported = isExported
            self.renamedFrom = renamedFrom
            self.sourceType = sourceType
            self.column = column
        }
    }
}

extension SyncModel {
    /// A relationship from the rows of one entity to the rows of another entity, or of the same entity.
    public struct Relationship: Sendable, Hashable {
        /// The name of the relationship.
        public var name: String
        /// The name of the destination entity.
        public var destination: String
        /// Whether a row can have several destination rows.
        public var isToMany: Bool
        /// Whether the list of a to-many relationship keeps the order of the payload.
        package var isOrdered: Bool
        /// The name of the inverse relationship, which the destination entity declares; nil if there is no inverse. A
        /// to-many relationship without an inverse is many-to-many.
        public var inverse: String?
        /// The handling of the destination rows when the row that has the relationship is deleted.
        package var deleteRule: SyncModel.DeleteRule
        /// The only JSON key of the relationship. If the value is nil, the keys are derived from the name of the
        /// relationship. Dots have the same meaning as in ``SyncModel/Attribute/remoteKey``.
        package var remoteKey: String?
        /// The attribute whose values are the object keys, if the destination records are members of an object, as in
        /// `{"de": {…}, "fr": {…}}`. The value is nil if the records are in an array.
        package var keyedBy: KeyedBy?
        /// Whether exports contain the relationship.
        package var isExported: Bool
        /// Whether the relationship can be empty. Validation and engines use this property; syncs do not.
        package var isOptional: Bool
        /// The name of the relationship in an earlier model.
        package var renamedFrom: String?
        /// The name of the join table of a many-to-many relationship. If the value is nil, the name consists of the
        /// names of the entity and the relationship. Either of two inverse relationships can declare the name.
        package var table: String?
        /// The name of the foreign key column of a to-one relationship. For a many-to-many relationship, the name of
        /// the join table column that references the destination row.
        package var column: String?
        /// For a many-to-many relationship, the name of the join table column that references the row with the
        /// relationship.
        package var inverseColumn: String?

        /// Creates a relationship. By default the relationship is to-one.
        ///
        /// - Parameters:
        ///   - name: The name of the relationship.
        ///   - destination: The name of the destination entity.
        ///   - isToMany: Whether a row can have several destination rows.
        ///   - isOrdered: Whether the list of a to-many relationship keeps the order of the payload.
        ///   - inverse: The name of the inverse relationship; nil if the relationship has no inverse, or if the inverse
        ///     names this relationship.
        ///   - deleteRule: The handling of the destination rows when the row that has the relationship is deleted.
        ///   - remoteKey: The only JSON key of the relationship; nil for keys that are derived from the name of the
        ///     relationship. Dots lead into nested objects; `\.` is a dot in a key.
        ///   - isExported: Whether exports contain the relationship. If false, the records that an engine sends also
        ///     omit the relationship, unless it is part of the primary key.
        ///   - isOptional: Whether the relationship can be empty. Validation and engines use this value; syncs do not.
        ///   - renamedFrom: The name of the relationship in an earlier model.
        ///   - keyedBy: The attribute whose values are the object keys, if the destination records are members of an
        ///     object, as in `{"de": {…}, "fr": {…}}`.
        ///   - table: The name of the join table of a many-to-many relationship.
        ///   - column: The name of the foreign key column of a to-one relationship. For a many-to-many relationship,
        ///     the name of the join table column that references the destination row.
        ///   - inverseColumn: For a many-to-many relationship, the name of the join table column that references the
        ///     row with the relationship.
        public init(
            _ name: String, to destination: String, many isToMany: Bool = false, ordered isOrdered: Bool = false,
            inverse: String? = nil, deleteRule: SyncModel.DeleteRule = .nullify, remoteKey: String? = nil,
            isExported: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil, keyedBy: KeyedBy? = nil,
            table: String? = nil, column: String? = nil, inverseColumn: String? = nil
        ) {
            self.name = name
            self.destination = destination
            self.isToMany = isToMany
            self.isOrdered = isOrdered
            self.inverse = inverse
            self.deleteRule = deleteRule
            self.remoteKey = remoteKey
            self.isExported = isExported
            self.isOptional = isOptional
            self.renamedFrom = renamedFrom
            self.keyedBy = keyedBy
            self.table = table
            self.column = column
            self.inverseColumn = inverseColumn
        }
    }
}

extension SyncModel {
    /// The handling of the destination rows of a relationship when the row that has the relationship is deleted.
    public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
        /// The destination rows stay and lose the link. A destination row is deleted if the link is part of its primary
        /// key.
        case nullify
        /// The destination rows are also deleted. If the payload contains or references a destination row, that row
        /// only loses the link. A destination row whose primary key contains the link is always deleted.
        case cascade
        /// The row that has the relationship cannot be deleted, unless the same sync deletes or unlinks all destination
        /// rows.
        case deny
        /// The same as ``nullify``. A sync never leaves a link to a deleted row.
        case noAction
    }
}

/// The attribute whose values are the object keys, if the records are members of an object, as in
/// `{"AD": {…}, "AE": {…}}`.
public enum KeyedBy: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The object keys are the values of the primary key, which must be one attribute.
    case primaryKey
    /// The object keys are the values of an attribute. The associated value is the name or the JSON key of the
    /// attribute.
    case attribute(String)

    /// Creates a value from the name or the JSON key of an attribute.
    public init(stringLiteral name: String) { self = .attribute(name) }
}
