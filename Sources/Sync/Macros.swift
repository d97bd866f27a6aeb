#if Macros
    public import SyncCore
    import SyncSQLite

    /// Makes a struct an entity: its stored properties are the attributes, and its values are rows of a stack and GRDB
    /// records.
    ///
    /// ```swift
    /// @Entity struct User {
    ///     var id: Int
    ///     var name: String
    ///     @RemoteKey("contact.email") var email: String?
    ///     @Relationship(inverse: \Note.user, deleteRule: .cascade) var notes: [Note]
    /// }
    /// ```
    /// An attribute is optional if the type of its property is. The initial value of a property is the default value of
    /// the attribute.
    /// Enumerations are stored by their raw values, and other `Codable` types as JSON. The primary key is the property
    /// with
    /// `@PrimaryKey`, or the one called `id` or `remoteID`. The arguments are the properties of ``SyncModel/Entity``.
    ///
    /// - Parameters:
    ///   - name: The name of the entity; by default the name of the type.
    ///   - parent: The type of the parent entity. The struct repeats the properties of that type.
    ///   - isKeyless: Whether the entity is keyless: its rows have no primary key and belong to an owner.
    ///   - primaryKey: The properties of a composite key, in their order.
    @attached(member, names: arbitrary)
    @attached(
        extension, conformances: EntityRecord,
        names: named(init), named(encode), named(load))
    public macro Entity(
        _ name: String? = nil, parent: (any SyncEntity.Type)? = nil, isAbstract: Bool = false, isKeyless: Bool = false,
        primaryKey: SyncModel.PrimaryKey? = nil, renamedFrom: String? = nil, keys: KeyCase? = nil,
        ignore: [String] = [], resourceType: String? = nil, discriminator: SyncModel.Discriminator? = nil,
        table: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "EntityMacro")

    /// Makes the property the primary key, or a part of the composite key if several properties have it.
    @attached(peer)
    public macro PrimaryKey() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the JSON key of a property. A key path with dots leads into nested objects.
    @attached(peer)
    public macro RemoteKey(_ key: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Omits the property from exports.
    @attached(peer)
    public macro NotExported() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the transformers of the property's value, in the order in which they are applied: standard transformers,
    /// and those registered with the model.
    @attached(peer)
    public macro Transformer(_ names: String...) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the format in which the service writes the dates of a property.
    @attached(peer)
    public macro Format(_ format: AttributeFormat) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the type of the attribute, if it differs from the default for the property's type.
    @attached(peer)
    public macro Stored(as type: AttributeType) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the column of the property, if it differs from the property's name.
    @attached(peer)
    public macro Column(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Sets the name that the property had in an earlier model.
    @attached(peer)
    public macro RenamedFrom(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Excludes the property from the entity. The property needs an initial value.
    @attached(peer)
    public macro Transient() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Makes the property a relationship: `Company?` or `[Note]`.
    ///
    /// The property has the related rows once they are loaded (`fetch(User.self, including: \.notes)`) or set. Until
    /// then it is nil or empty, and a sync of the value does not change the relationship. The key of a to-one row is in
    /// a separate property, `companyID`.
    ///
    /// - Parameters:
    ///   - inverse: The inverse relationship. Only one of the two properties gives it.
    ///   - deleteRule: What happens to the related rows when their owner is deleted.
    ///   - ordered: Whether a list keeps the order of the payload.
    ///   - optional: Documentation only: a missing link is never an error.
    ///   - table: The join table of a many-to-many relationship, with `column` and `inverseColumn`.
    ///   - column: The column with the key of the related rows.
    ///   - keyedBy: The attribute that is read from the member names, if the payload may give the rows as members of an
    ///     object.
    @attached(accessor)
    public macro Relationship(
        inverse: AnyKeyPath? = nil, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")

    /// Makes the property a relationship, with the inverse as a name. Use it if both properties give their inverse,
    /// because the compiler rejects circular key paths.
    @attached(accessor)
    public macro Relationship(
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")
#endif
