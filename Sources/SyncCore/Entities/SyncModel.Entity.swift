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
