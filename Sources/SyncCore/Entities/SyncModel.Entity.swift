extension SyncModel {
    /// A kind of row: its own attributes and relationships, without those it inherits.
    ///
    /// A `SyncModel.Entity` is what a model source declares. ``SyncModel`` checks the declarations together.
    public struct Entity: Sendable, Hashable {
        /// The name, which is also that of the table unless ``table`` says otherwise or the entity has a parent.
        public var name: String
        /// The entity this one inherits attributes, relationships and the primary key from.
        public var parent: String?
        /// Whether only its sub-entities have rows.
        public var isAbstract: Bool
        /// The attribute, or the parts, that are the key, if declared on the entity. The marked attributes or one called
        /// `id` or `remoteID` are the key otherwise.
        public var primaryKey: SyncModel.PrimaryKey?
        /// What JSON:API calls its resources, if that is not its name in another spelling.
        public var resourceType: String?
        /// Says of which sub-entity a record is.
        public var discriminator: SyncModel.Discriminator?
        /// Its own attributes, in the order of the model.
        public var attributes: [SyncModel.Attribute]
        /// Its own relationships, in the order of the model.
        public var relationships: [SyncModel.Relationship]
        /// The name this entity had in an earlier model.
        public var renamedFrom: String?
        /// How the keys of its records are spelled; nil for as its parent or the model says.
        public var keys: KeyCase?
        /// Patterns of keys of its records that nothing is wanted of, besides those of its parent and the model: `*_url`,
        /// `meta.*`. What an attribute or a relationship is named after is read all the same.
        public var ignore: [String]
        /// The table its rows are in, if that is not called as the entity. Entities that have a parent share its table.
        public var table: String?

        /// An entity without parent, declared key or members unless said otherwise.
        public init(
            _ name: String, parent: String? = nil, isAbstract: Bool = false, primaryKey: SyncModel.PrimaryKey? = nil,
            attributes: [SyncModel.Attribute] = [], relationships: [SyncModel.Relationship] = [],
            renamedFrom: String? = nil, keys: KeyCase? = nil, ignore: [String] = [], resourceType: String? = nil,
            discriminator: SyncModel.Discriminator? = nil, table: String? = nil
        ) {
            self.name = name
            self.parent = parent
            self.isAbstract = isAbstract
            self.primaryKey = primaryKey
            self.attributes = attributes
            self.relationships = relationships
            self.renamedFrom = renamedFrom
            self.keys = keys
            self.ignore = ignore
            self.resourceType = resourceType
            self.discriminator = discriminator
            self.table = table
        }
    }
}

extension SyncModel {
    /// What the rows of an entity are told apart by: an attribute, or several parts together.
    ///
    /// A part is the name of an attribute, or of a to-one relationship, which stands for the key of the row it leads to:
    ///
    /// ```swift
    /// Entity("Package", primaryKey: "name", attributes: [Attribute("name", .string)])
    /// Entity("Issue", primaryKey: ["repository", "number"], …)
    /// ```
    public struct PrimaryKey: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        /// The names of its parts, in the order in which a key is written as a list.
        public var parts: [String]

        /// A key of these parts.
        public init(_ parts: [String]) { self.parts = parts }

        /// A key of one attribute.
        public init(_ name: String) { self.init([name]) }

        /// A key of one attribute.
        public init(stringLiteral name: String) { self.init(name) }

        /// A key of these parts.
        public init(arrayLiteral parts: String...) { self.init(parts) }

        /// The only part; nil if there are several.
        package var single: String? { parts.count == 1 ? parts[0] : nil }
    }
}

extension SyncModel {
    /// The member of a record that says of which entity it is, of an entity and those that have it as parent.
    public struct Discriminator: Sendable, Hashable {
        /// What becomes of a record whose kind is unknown.
        public enum Fallback: String, Sendable, Hashable, CaseIterable {
            /// It is skipped and reported. The row it has stays.
            case skip
            /// It is taken as a record of the entity that has the discriminator.
            case parent
        }

        /// A kind and its entity.
        public struct Kind: Sendable, Hashable {
            /// What the member says; a number as it is written.
            public var value: String
            /// The entity that is meant.
            public var entity: String

            /// A kind and its entity.
            public init(_ value: String, _ entity: String) {
                self.value = value
                self.entity = entity
            }
        }

        /// The key of the member; dots walk into nested objects.
        public var key: String
        /// The kinds there are. Of several for one entity, exports write the first.
        public var kinds: [Kind]
        /// What becomes of a record whose kind is none of them. A record without the member is one of the entity itself.
        public var otherwise: Fallback

        /// - Parameter values: Each kind and its entity: `["dog": "Dog"]`.
        public init(
            _ key: String, values: KeyValuePairs<String, String>, otherwise: Fallback = .skip
        ) {
            self.init(key, kinds: values.map { Kind($0.key, $0.value) }, otherwise: otherwise)
        }

        /// The kinds that the member of this key tells apart.
        public init(_ key: String, kinds: [Kind], otherwise: Fallback = .skip) {
            self.key = key
            self.kinds = kinds
            self.otherwise = otherwise
        }
    }
}

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
        /// ``StandardTransformer`` and those that are registered on the model.
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

extension SyncModel {
    /// A link from the rows of one entity to rows of another, or of the same.
    public struct Relationship: Sendable, Hashable {
        /// The local name.
        public var name: String
        /// The name of the entity it leads to.
        public var destination: String
        /// Whether a row can have several targets.
        public var isToMany: Bool
        /// Whether the targets of a to-many relationship keep the order of the payload.
        public var isOrdered: Bool
        /// The relationship of the destination that leads back. A to-many without one is many-to-many.
        public var inverse: String?
        /// What happens to the targets when their owner is deleted.
        public var deleteRule: SyncModel.DeleteRule
        /// The only JSON key the relationship is read from, instead of its names, with dots as in
        /// ``SyncModel/Attribute/remoteKey``.
        public var remoteKey: String?
        /// Where its targets may be the members of an object, `{"de": {…}, "fr": {…}}`: the attribute their names fill.
        public var keyedBy: KeyedBy?
        /// Whether exports contain it.
        public var isExportable: Bool
        /// Documentation only: a missing link is never an error.
        public var isOptional: Bool
        /// The name this relationship had in an earlier model.
        public var renamedFrom: String?
        /// The join table of a many-to-many relationship; nil for one called as the entity and the relationship. Enough
        /// on one side.
        public var table: String?
        /// The column with the key of the row that this leads to: the foreign key of a to-one relationship, or in the
        /// join table of a many-to-many one.
        public var column: String?
        /// The column with the key of this row, in the join table of a many-to-many relationship.
        public var inverseColumn: String?

        /// A relationship to the rows of an entity; to-one unless said otherwise.
        public init(
            _ name: String, to destination: String, many isToMany: Bool = false, ordered isOrdered: Bool = false,
            inverse: String? = nil, deleteRule: SyncModel.DeleteRule = .nullify, remoteKey: String? = nil,
            isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil, keyedBy: KeyedBy? = nil,
            table: String? = nil, column: String? = nil, inverseColumn: String? = nil
        ) {
            self.name = name
            self.destination = destination
            self.isToMany = isToMany
            self.isOrdered = isOrdered
            self.inverse = inverse
            self.deleteRule = deleteRule
            self.remoteKey = remoteKey
            self.isExportable = isExportable
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
    /// What happens to the rows a relationship leads to when its owner is deleted.
    public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
        /// The targets stay and lose the link.
        case nullify
        /// The targets are deleted too.
        case cascade
        /// The owner cannot be deleted while it has targets that stay.
        case deny
        /// Treated as ``nullify``: a store never keeps a link to a row that is gone.
        case noAction
    }
}

/// Which attribute the names fill under which records stand as members of an object: `{"AD": {…}, "AE": {…}}`.
public enum KeyedBy: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The names are the values of the primary key.
    case primaryKey
    /// The names are the values of another attribute, given by its local name, or by the key it has in JSON.
    case attribute(String)

    /// The attribute of this name.
    public init(stringLiteral name: String) { self = .attribute(name) }
}
