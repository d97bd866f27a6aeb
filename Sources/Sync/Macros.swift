#if Macros
    public import SyncCore
    import SyncSQLite

    /// Makes a struct an entity. The stored properties of the struct are the attributes and relationships of the
    /// entity. The struct conforms to ``EntityRecord``, so each value is a GRDB record that represents one row.
    ///
    /// ```swift
    /// @Entity struct User {
    ///     var id: Int
    ///     var name: String
    ///     @RemoteKey("contact.email") var email: String?
    ///     @Relationship(inverse: \Note.user, deleteRule: .cascade) var notes: [Note]
    /// }
    /// ```
    /// An attribute is optional if the type of the property is optional, or if the attribute is part of the primary
    /// key. The initial value of a variable is the default value of the attribute, unless it differs each time, such as
    /// `UUID()`. An enumeration with raw values is stored as its raw value. Other `Codable` types are stored as JSON.
    /// Computed, lazy and static properties, and constants with an initial value, are not attributes.
    ///
    /// The primary key consists of the properties in the argument `primaryKey`, or else of the properties with
    /// `@PrimaryKey`. Without such properties, the primary key is the property `id`, or else `remoteID`.
    ///
    /// - Parameters:
    ///   - name: The name of the entity; by default the name of the type.
    ///   - parent: The type of the parent entity. The struct must also declare the properties of the parent type.
    ///   - isAbstract: Whether only subentities of the entity have rows.
    ///   - isKeyless: Whether the entity has no primary key. If true, each row belongs to an owner, and the struct must
    ///     not have a property `id` or `remoteID`.
    ///   - primaryKey: The names of the properties in the primary key, in the order of the key; nil to declare the key
    ///     in another way.
    ///   - renamedFrom: The name of the entity in an earlier model.
    ///   - keyCase: The spelling of the JSON keys; nil for the spelling of the parent entity or of the model.
    ///   - ignoredKeys: The patterns of ignored JSON keys, such as `*_url`.
    ///   - resourceType: The JSON:API resource type; nil for the name of the entity, singular or plural, with any
    ///     capitalization and word separators.
    ///   - discriminator: The member of a record that determines whether the record is of this entity or of a
    ///     subentity.
    ///   - table: The name of the table; nil for the name of the entity.
    @attached(member, names: arbitrary)
    @attached(memberAttribute)
    @attached(
        extension, conformances: EntityRecord,
        names: named(init), named(encode), named(setRelated))
    public macro Entity(
        _ name: String? = nil, parent: (any SyncEntity.Type)? = nil, isAbstract: Bool = false, isKeyless: Bool = false,
        primaryKey: SyncModel.PrimaryKey? = nil, renamedFrom: String? = nil, keyCase: KeyCase? = nil,
        ignoredKeys: [String] = [], resourceType: String? = nil, discriminator: SyncModel.Discriminator? = nil,
        table: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "EntityMacro")

    /// Makes a property the primary key. If several properties have the macro, these properties form a composite key,
    /// in the order of their declarations.
    @attached(peer)
    public macro PrimaryKey() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the JSON key of a property. A dot separates the key of a nested object from a key in that object. Write
    /// `\.` for a dot that is part of a key.
    @attached(peer)
    public macro RemoteKey(_ key: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Omits a property from exports, and from the records that an engine sends.
    @attached(peer)
    public macro NotExported() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the transformers of a property, in the order in which the transformers apply. Each string is the name of a
    /// built-in transformer, or of an ``AttributeTransformer`` that is registered with the model.
    @attached(peer)
    public macro Transformer(_ names: String...) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the format of the dates of a property in JSON, such as `@Format("dd.MM.yyyy")`.
    ///
    /// A string literal has the same meaning as the member `format` of a schema file.
    @attached(peer)
    public macro Format(_ format: AttributeFormat) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the attribute type of a property. Without this macro, the Swift type of the property determines the
    /// attribute type.
    ///
    /// `@Stored(as: .json)` on a property with values of a `Codable` entity stores copies of these values as JSON. Such
    /// a property is an attribute, not a relationship.
    @attached(peer)
    public macro Stored(as type: AttributeType) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the name of the column of an attribute. Without this macro, the column has the name of the property.
    @attached(peer)
    public macro Column(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the name that a property had in an earlier model.
    @attached(peer)
    public macro RenamedFrom(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Excludes a property from the entity. The property needs an initial value, unless the property is an optional
    /// variable.
    @attached(peer)
    public macro Transient() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Records each edit of a property, so that a save of a copy does not affect other copies. `@Entity` adds this macro
    /// to the properties of a struct.
    @attached(accessor, names: named(didSet))
    public macro TrackedProperty() = #externalMacro(module: "SyncMacros", type: "TrackedPropertyMacro")

    /// Makes a property of type `Company?` or `[Note]` a relationship.
    ///
    /// The property is nil or empty until you assign related rows, or fetch the row with the relationship:
    /// `fetch(User.self, including: \.notes)`. If a to-many relationship is not loaded, a sync of the struct does not
    /// change the links of the relationship.
    ///
    /// For a to-one relationship `company`, the macro `@Entity` adds a property `companyID` with the key of the related
    /// row, unless the struct declares that property. If the related row is not loaded, a sync of the struct takes the
    /// link from `companyID`. If `companyID` is nil, the sync removes the link. If `companyID` contains a `RowNumber`,
    /// the link stays unchanged.
    ///
    /// Of two inverse to-one relationships, only one has a foreign key column. At the other end, GRDB reads nil as the
    /// key, `DataStack` reads the key of the related row, and nil leaves the link unchanged. To remove the link there,
    /// assign nil to the relationship.
    ///
    /// - Parameters:
    ///   - inverse: The inverse relationship; nil if the relationship has no inverse, or if the property on the other
    ///     side declares the inverse. Only one of the two properties can declare its inverse by a key path.
    ///   - deleteRule: The rule for the related rows when the row is deleted.
    ///   - ordered: Whether the list of a to-many relationship keeps the order of the payload.
    ///   - optional: Whether the relationship can be empty. Validation and engines use this argument; syncs do not.
    ///   - keyedBy: The attribute whose values are the object keys, if payloads have the related records as members of
    ///     an object; nil otherwise.
    ///   - table: The name of the join table of a many-to-many relationship.
    ///   - column: The name of the column with the key of the related row, in the table of the entity or in the join
    ///     table.
    ///   - inverseColumn: The name of the join-table column that contains the key of the row itself.
    @attached(accessor)
    public macro Relationship(
        inverse: AnyKeyPath? = nil, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")

    /// Makes a property a relationship whose inverse is given by name.
    ///
    /// If the properties on both sides name each other as the inverse, at least one of them must give the inverse as a
    /// string. The compiler rejects circular key paths.
    @attached(accessor)
    public macro Relationship(
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")
#endif
