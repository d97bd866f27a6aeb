extension SyncModel {
    /// The declaration of an entity: its attributes and relationships, without inherited ones.
    ///
    /// ``SyncModel`` validates the declarations of all entities together.
    public struct Entity: Sendable, Hashable {
        /// The name of the entity. It is also the name of the table, unless the model names another table or the entity
        /// has a parent.
        public var name: String
        /// The name of the parent entity, from which the entity inherits attributes, relationships and the primary key.
        package var parent: String?
        /// Whether the entity is abstract: only its subentities have rows.
        package var isAbstract: Bool
        /// The primary key. If it is nil, the key consists of the attributes with ``SyncModel/Attribute/isPrimaryKey``,
        /// or else is the key that an ancestor declares. If there is none, it is the attribute `id`, or else
        /// `remoteID`.
        package var primaryKey: SyncModel.PrimaryKey?
        /// The JSON:API resource type. If it is nil, the type is the name of the entity in any spelling.
        package var resourceType: String?
        /// The member of a record that determines the entity of the record, within the inheritance hierarchy.
        package var discriminator: SyncModel.Discriminator?
        /// The attributes, without inherited ones, in the order of the model.
        public var attributes: [SyncModel.Attribute]
        /// The relationships, without inherited ones, in the order of the model.
        public var relationships: [SyncModel.Relationship]
        /// The name of the entity in an earlier model.
        package var renamedFrom: String?
        /// The spelling of the keys in records of the entity. If it is nil, the spelling of the parent entity applies,
        /// or else that of the model.
        package var keyCase: KeyCase?
        /// The patterns of ignored keys, such as `*_url` or `meta.*`, in addition to those of the parent entity and the
        /// model. A sync reads the name or remote key of an attribute or relationship even if a pattern matches it.
        package var ignoredKeys: [String]
        /// The name of the table. If it is nil, the table has the name of the entity. An entity with a parent uses the
        /// table of the parent.
        package var table: String?

        /// Creates an entity. By default it has no parent, no declared key, no attributes and no relationships.
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
    /// The primary key of an entity: one attribute, or the parts of a composite key.
    ///
    /// A part is the name of an attribute or of a to-one relationship. The value of a relationship is the primary key
    /// of the referenced row:
    ///
    /// ```swift
    /// SyncModel.Entity("Package", primaryKey: "name", attributes: [.init("name", .string)])
    /// SyncModel.Entity(
    ///     "Issue", primaryKey: ["repository", "number"], attributes: [.init("number", .integer)],
    ///     relationships: [.init("repository", to: "Repository")])
    /// ```
    public struct PrimaryKey: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        /// The names of the parts, in the order of their values in a composite key.
        package var parts: [String]

        /// Creates a key of several parts.
        package init(_ parts: [String]) { self.parts = parts }

        /// Creates a key of one part.
        package init(_ name: String) { self.init([name]) }

        /// Creates a key of one part.
        public init(stringLiteral name: String) { self.init(name) }

        /// Creates a key of several parts.
        public init(arrayLiteral parts: String...) { self.init(parts) }

        /// The only part; nil unless there is exactly one.
        package var single: String? { parts.count == 1 ? parts[0] : nil }
    }
}

extension SyncModel {
    /// The member of a record that determines the entity of the record, within an inheritance hierarchy.
    public struct Discriminator: Sendable, Hashable {
        /// The handling of a record whose discriminator value is unknown.
        public enum Fallback: String, Sendable, Hashable, CaseIterable {
            /// The sync skips the record and reports a diagnostic. A stored row with the key of the record stays.
            case skip
            /// The record belongs to the entity that the payload or the relationship names. If that entity is abstract,
            /// the sync skips the record.
            case parent
        }

        /// A value of the discriminator and its entity.
        package struct Kind: Sendable, Hashable {
            /// The value of the member, as text. For a number, it is the text in the JSON.
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
        /// The known values and their entities. If an entity has several values, exports write the first.
        package var kinds: [Kind]
        /// The handling of a record whose discriminator value is unknown. A record without the member belongs to the
        /// entity that the payload or the relationship names, unless that entity is abstract.
        package var fallback: Fallback

        /// Creates a discriminator.
        ///
        /// - Parameter values: Each value and its entity: `["dog": "Dog"]`.
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
        /// The name of the attribute. It is also the name of the column, unless the model names another column.
        public var name: String
        /// The type of the values.
        public var type: AttributeType
        /// The JSON key of the attribute. A sync reads the name of the attribute as a key, too. Dots lead into nested
        /// objects; `\.` is a dot in a key.
        package var remoteKey: String?
        /// Whether the model marks the attribute as the primary key or a part of it. See
        /// ``SyncModel/Entity/primaryKey``.
        package var isPrimaryKey: Bool
        /// Whether the value may be nil. If not, the column is `NOT NULL`, unless a subentity declares the attribute.
        package var isOptional: Bool
        /// The value of new rows whose records omit the attribute; nil if the attribute has no default value.
        package var defaultValue: StoredValue?
        /// The names of the transformers that convert a JSON value, in this order: ``StandardTransformer``s, and
        /// transformers that are registered with the model.
        package var transformers: [String]
        /// The format of dates in JSON. If it is nil, dates are ISO 8601 text or Unix times. The magnitude of a Unix
        /// time determines its unit.
        package var format: AttributeFormat?
        /// Whether exports contain the attribute.
        package var isExported: Bool
        /// The name of the attribute in an earlier model.
        package var renamedFrom: String?
        /// The name of the type in the source of the model, for display (`Integer 32`).
        package var sourceType: String?
        /// The name of the column. If it is nil, the column has the name of the attribute.
        package var column: String?
        /// The check whether values fit the type of the Swift property; nil if there is no such property, or if all
        /// values fit.
        package var check: ValueCheck?

        /// The first of the ``transformers``. Setting it replaces all of them.
        package var transformer: String? {
            get { transformers.first }
            set { transformers = newValue.map { [$0] } ?? [] }
        }

        /// Creates an attribute. By default it is optional and exported, and has no default value.
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
    /// A relationship from the rows of one entity to rows of another or of the same entity.
    public struct Relationship: Sendable, Hashable {
        /// The name of the relationship.
        public var name: String
        /// The name of the destination entity.
        public var destination: String
        /// Whether a row can have several destination rows.
        public var isToMany: Bool
        /// Whether the list of a to-many relationship keeps the order of the payload.
        package var isOrdered: Bool
        /// The name of the inverse relationship, which the destination entity has; nil if there is none. A to-many
        /// relationship without an inverse is many-to-many.
        public var inverse: String?
        /// The handling of the destination rows when the row is deleted.
        package var deleteRule: SyncModel.DeleteRule
        /// The only JSON key of the relationship. If it is nil, the keys follow from the name of the relationship. Dots
        /// have the same meaning as in ``SyncModel/Attribute/remoteKey``.
        package var remoteKey: String?
        /// The attribute that is read from the object keys, if the destination records are members of an object:
        /// `{"de": {…}, "fr": {…}}`. Nil if they are in an array.
        package var keyedBy: KeyedBy?
        /// Whether exports contain the relationship.
        package var isExported: Bool
        /// Whether the relationship may be empty. Syncs do not check this, but validation and engines use it.
        package var isOptional: Bool
        /// The name of the relationship in an earlier model.
        package var renamedFrom: String?
        /// The name of the join table of a many-to-many relationship. If it is nil, the name is made from those of the
        /// entity and the relationship. Either of two inverse relationships can declare it.
        package var table: String?
        /// The name of the foreign key column of a to-one relationship. For a many-to-many relationship, the name of
        /// the join table's column with the key of the destination row.
        package var column: String?
        /// For a many-to-many relationship, the name of the join table's column with the key of the row that has the
        /// relationship.
        package var inverseColumn: String?

        /// Creates a relationship. By default it is to-one.
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
        /// The destination rows stay and lose the link. They are deleted if the link is part of their primary key.
        case nullify
        /// The destination rows are deleted too, unless the payload of the sync contains them.
        case cascade
        /// The row cannot be deleted unless all its destination rows are deleted too.
        case deny
        /// The same as ``nullify``: a store never keeps a link to a deleted row.
        case noAction
    }
}

/// The attribute that is read from the object keys, if records are members of an object: `{"AD": {…}, "AE": {…}}`.
public enum KeyedBy: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The object keys are the values of the primary key.
    case primaryKey
    /// The object keys are the values of another attribute, given by its name or by its key in JSON.
    case attribute(String)

    /// Creates a value from the name of an attribute.
    public init(stringLiteral name: String) { self = .attribute(name) }
}
