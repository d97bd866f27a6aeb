#if Macros
    public import SyncCore
    import SyncSQLite

    /// Makes a struct an entity. Its stored properties are the attributes and relationships. Its values are rows of a
    /// stack and GRDB records.
    ///
    /// ```swift
    /// @Entity struct User {
    ///     var id: Int
    ///     var name: String
    ///     @RemoteKey("contact.email") var email: String?
    ///     @Relationship(inverse: \Note.user, deleteRule: .cascade) var notes: [Note]
    /// }
    /// ```
    /// An attribute is optional if the type of its property is optional, or if it is part of the primary key. The
    /// initial value of a variable is the default value of the attribute. Enumerations with raw values are stored by
    /// these values, and other `Codable` types as JSON.
    ///
    /// The primary key consists of the properties in the argument `primaryKey`, or else of those with `@PrimaryKey`. If
    /// there are none, it is the property `remoteID` or `id`.
    ///
    /// - Parameters:
    ///   - name: The name of the entity; by default the name of the type.
    ///   - parent: The type of the parent entity. The struct repeats the properties of that type.
    ///   - isAbstract: Whether only subentities of the entity have rows.
    ///   - isKeyless: Whether the entity has no primary key, so that its rows belong to an owner. The struct then must
    ///     not have a property `id` or `remoteID`.
    ///   - primaryKey: The names of the properties in the primary key, in the order of the key.
    ///   - renamedFrom: The name of the entity in an earlier model.
    ///   - keyCase: The spelling of the JSON keys; nil for that of the parent entity or of the model.
    ///   - ignoredKeys: The patterns of ignored JSON keys, such as `*_url`.
    ///   - resourceType: The JSON:API resource type; nil for the name of the entity in any spelling.
    ///   - discriminator: The member of a record that determines the entity of the record: this entity or a subentity.
    ///   - table: The table; nil for the name of the entity.
    @attached(member, names: arbitrary)
    @attached(
        extension, conformances: EntityRecord,
        names: named(init), named(encode), named(setRelated))
    public macro Entity(
        _ name: String? = nil, parent: (any SyncEntity.Type)? = nil, isAbstract: Bool = false, isKeyless: Bool = false,
        primaryKey: SyncModel.PrimaryKey? = nil, renamedFrom: String? = nil, keyCase: KeyCase? = nil,
        ignoredKeys: [String] = [], resourceType: String? = nil, discriminator: SyncModel.Discriminator? = nil,
        table: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "EntityMacro")

    /// Makes a property the primary key. If several properties have the macro, each is a part of a composite key.
    @attached(peer)
    public macro PrimaryKey() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the JSON key of a property. A dot in the key leads into a nested object.
    @attached(peer)
    public macro RemoteKey(_ key: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Omits a property from exports.
    @attached(peer)
    public macro NotExported() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the transformers of a property, in the order in which they apply. Each name is that of a standard
    /// transformer or of a transformer that is registered with the model.
    @attached(peer)
    public macro Transformer(_ names: String...) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the format in which the service writes the dates of a property: `@Format("dd.MM.yyyy")`.
    ///
    /// A string literal has the same meaning as the member `format` of a schema file.
    @attached(peer)
    public macro Format(_ format: AttributeFormat) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the attribute type of a property. Without the macro, it follows from the Swift type of the property.
    ///
    /// `@Stored(as: .json)` on a property with values of a `Codable` entity stores copies as JSON. The property is then
    /// not a relationship.
    @attached(peer)
    public macro Stored(as type: AttributeType) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the column of an attribute. Without the macro, the column has the name of the property.
    @attached(peer)
    public macro Column(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the name that a property had in an earlier model.
    @attached(peer)
    public macro RenamedFrom(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Excludes a property from the entity. The property needs an initial value, unless it is an optional variable.
    @attached(peer)
    public macro Transient() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Makes a property of type `Company?` or `[Note]` a relationship.
    ///
    /// The property has the related rows after a fetch that loads them (`fetch(User.self, including: \.notes)`), or
    /// after an assignment. Until then the property is nil or empty. A sync of the value then leaves the links of a
    /// to-many relationship unchanged.
    ///
    /// For a to-one relationship `company`, the macro `@Entity` adds a property `companyID` with the key of the related
    /// row, unless the struct declares it. If the row is not loaded, a sync of the value links the row with this key,
    /// unless the key is composite.
    ///
    /// - Parameters:
    ///   - inverse: The inverse relationship. Only one of the two properties names its inverse.
    ///   - deleteRule: The handling of the related rows when the row is deleted.
    ///   - ordered: Whether a list keeps the order of the payload.
    ///   - optional: Whether the relationship may be empty. Syncs do not check this, but validation and engines use it.
    ///   - keyedBy: The attribute that is read from the object keys, if payloads give the related records as members
    ///     of an object.
    ///   - table: The join table of a many-to-many relationship.
    ///   - column: The column with the key of the related row, in the table of the entity or in the join table.
    ///   - inverseColumn: The column of the join table with the key of the row itself.
    @attached(accessor)
    public macro Relationship(
        inverse: AnyKeyPath? = nil, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")

    /// Makes a property a relationship and takes the inverse as a name.
    ///
    /// Use this macro if both properties name their inverse, because the compiler rejects circular key paths.
    @attached(accessor)
    public macro Relationship(
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")
#endif
