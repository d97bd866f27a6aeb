#if Macros
    public import SyncCore
    import SyncSQLite

    /// Makes a struct an entity: its stored properties are the attributes, its values are rows of a stack and records of
    /// GRDB's.
    ///
    /// ```swift
    /// @Entity struct User {
    ///     var id: Int
    ///     var name: String
    ///     @RemoteKey("contact.email") var email: String?
    ///     @Relationship(inverse: \Note.user, deleteRule: .cascade) var notes: [Note]
    /// }
    /// ```
    /// What a property may be nil says whether the attribute may; its initial value is that of new rows.
    /// Enumerations are kept by their raw values, other `Codable` types as JSON. The key is the property with
    /// `@PrimaryKey`, or the one called `id` or `remoteID`. What is said here beside the name is that of
    /// ``SyncModel/Entity``.
    ///
    /// - Parameters:
    ///   - name: The name of the entity, if that is not the type's.
    ///   - parent: The type of the entity that this one inherits from, whose properties the struct has too.
    ///   - isKeyless: Whether its rows have no key, and belong to others by their places.
    ///   - primaryKey: The properties that the key is made of, in their order.
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

    /// The property is the primary key, or, with others, a part of it.
    @attached(peer)
    public macro PrimaryKey() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The JSON key of a property besides its own name; dots walk into nested objects.
    @attached(peer)
    public macro RemoteKey(_ key: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// Exports leave the property out.
    @attached(peer)
    public macro NotExported() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The transformers that make the property's value, one after the other: built-in ones, and those registered with the
    /// model.
    @attached(peer)
    public macro Transformer(_ names: String...) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// How a service writes the instants of a property.
    @attached(peer)
    public macro Format(_ format: AttributeFormat) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The type of the attribute, where it is not the one of the property's type.
    @attached(peer)
    public macro Stored(as type: AttributeType) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The column that the property is in, if that is not called as it is.
    @attached(peer)
    public macro Column(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The name that the property had in an earlier model.
    @attached(peer)
    public macro RenamedFrom(_ name: String) = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The property is none of the entity's. It needs an initial value.
    @attached(peer)
    public macro Transient() = #externalMacro(module: "SyncMacros", type: "MarkerMacro")

    /// The rows that a row leads to: `Company?` or `[Note]`.
    ///
    /// They are there once they were loaded (`fetch(User.self, including: \.notes)`) or set; until then the property is nil
    /// or empty, and a sync of the value says nothing of them. The key of the one row is in a property of its own,
    /// `companyID`.
    ///
    /// - Parameters:
    ///   - inverse: The property that leads back, on one side of the two.
    ///   - deleteRule: What becomes of the rows when their owner is deleted.
    ///   - ordered: Whether a list keeps the order of the payload.
    ///   - optional: Documentation only: a missing link is never an error.
    ///   - table: The join table of a many-to-many relationship, with `column` and `inverseColumn`.
    ///   - column: The column with the key of the rows it leads to.
    ///   - keyedBy: Where the rows may be the members of an object: the attribute their names fill.
    @attached(accessor)
    public macro Relationship(
        inverse: AnyKeyPath? = nil, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")

    /// The rows that a row leads to, with the name of the property that leads back: needed where both sides say it, as the
    /// compiler cannot follow key paths in a circle.
    @attached(accessor)
    public macro Relationship(
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, ordered: Bool = false,
        optional: Bool = true, keyedBy: KeyedBy? = nil, table: String? = nil, column: String? = nil,
        inverseColumn: String? = nil
    ) = #externalMacro(module: "SyncMacros", type: "RelationshipMacro")
#endif
