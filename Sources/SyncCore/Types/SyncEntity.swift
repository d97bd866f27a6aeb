/// A Swift type that is an entity: its stored properties are the attributes, and its values are the rows.
///
/// `@Entity` generates the conformance. Without the macro, write it by hand:
///
/// ```swift
/// struct Tag: SyncEntity {
///     var id: Int
///     var name: String
///
///     static let entityName = "Tag"
///     static var syncEntity: SyncModel.Entity {
///         SyncModel.Entity(entityName, attributes: [.init("id", Int.self), .init("name", String.self)])
///     }
///     static var syncProperties: [PartialKeyPath<Tag>: SyncProperty] { [\.id: "id", \.name: "name"] }
/// }
/// ```
public protocol SyncEntity: Sendable {
    /// The name of the entity in the model.
    static var entityName: String { get }
    /// The entity as declared in a model. If the entity has a parent, it may repeat the members of the parent.
    static var syncEntity: SyncModel.Entity { get }
    /// The attribute or relationship of each property.
    static var syncProperties: [PartialKeyPath<Self>: SyncProperty] { get }
}

extension SyncEntity {
    /// The name of the type.
    public static var entityName: String { "\(Self.self)" }
}

/// The attribute or relationship of a property of a ``SyncEntity``.
public struct SyncProperty: Sendable, ExpressibleByStringLiteral {
    /// The local name in the model.
    package let name: String
    /// The type of the destination rows of a relationship; nil for an attribute.
    package let destination: (any SyncEntity.Type)?

    /// Creates the property of an attribute, or of a relationship to rows of a type.
    public init(_ name: String, to destination: (any SyncEntity.Type)? = nil) {
        self.name = name
        self.destination = destination
    }

    /// Creates the property of an attribute.
    public init(stringLiteral name: String) { self.init(name) }
}

/// The loaded rows of a relationship: the storage that `@Entity` generates for a property with `@Relationship`. The
/// rows are in an array, so types may reference themselves and each other.
///
/// `Row` has no constraint. With one, the compiler would need the conformances of a type for the properties of that
/// type, which it does not have yet under `.defaultIsolation(MainActor.self)`.
public struct RelatedRows<Row> {
    /// The rows; nil if they were not loaded. A sync of the value then leaves the links unchanged.
    public var rows: [Row]?

    /// Creates the storage with loaded rows; nil if they were not loaded.
    public init(_ rows: [Row]? = nil) { self.rows = rows }
}

extension RelatedRows: Sendable where Row: Sendable {}
extension RelatedRows: Equatable where Row: Equatable {}
extension RelatedRows: Hashable where Row: Hashable {}
extension RelatedRows: Codable where Row: Codable {}

// MARK: - SyncModel+Types

extension SyncModel {
    /// Creates a model from Swift types, and validates it.
    ///
    /// ```swift
    /// let model = try SyncModel(User.self, Note.self)
    /// ```
    /// - Parameters:
    ///   - keys: The spelling of JSON keys, for entities that declare none.
    ///   - ignore: The patterns of ignored keys.
    /// - Throws: ``SyncError`` `invalidModel` with all problems.
    public init(_ types: any SyncEntity.Type..., keys: KeyCase? = nil, ignore: [String] = []) throws {
        try self.init(types: types, keys: keys, ignore: ignore)
    }

    /// Creates a model from Swift types, and validates it.
    ///
    /// - Throws: ``SyncError`` `invalidModel` with all problems.
    package init(types: [any SyncEntity.Type], keys: KeyCase? = nil, ignore: [String] = []) throws {
        let declared = types.map { $0.syncEntity }
        let byName = Dictionary(declared.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        try self.init(
            entities: declared.map { $0.withoutMembers(of: Self.ancestors(of: $0, in: byName)) }, keys: keys,
            ignore: ignore)
    }

    private static func ancestors(of entity: Entity, in entities: [String: Entity]) -> [Entity] {
        var found: [Entity] = []
        var next = entity.parent.flatMap { entities[$0] }
        while let parent = next, !found.contains(where: { $0.name == parent.name }) {
            found.append(parent)
            next = parent.parent.flatMap { entities[$0] }
        }
        return found
    }
}

extension SyncModel.Entity {
    /// Removes the inherited members: a struct repeats them, but a model declares them once.
    fileprivate func withoutMembers(of ancestors: [SyncModel.Entity]) -> SyncModel.Entity {
        guard !ancestors.isEmpty else { return self }
        var entity = self
        entity.attributes.removeAll { own in
            ancestors.contains { $0.attributes.contains { $0.name == own.name } }
        }
        entity.relationships.removeAll { own in
            ancestors.contains { $0.relationships.contains { $0.name == own.name } }
        }
        return entity
    }
}

// MARK: - SyncModel.Attribute+Types

extension SyncModel.Attribute {
    /// Creates an attribute with values of a Swift type. It is optional if the type is
    /// optional. A key is always declared optional.
    ///
    /// - Parameters:
    ///   - isKey: Whether the attribute is the primary key, or a part of it, by its name or by the declaration of the
    ///     entity.
    ///   - defaultValue: The value of new rows whose records have none.
    public init<Value: AttributeValue>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(
            name, stored ?? Value.attributeType, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey,
            isOptional: isPrimaryKey || isKey || Value.isOptional,
            defaultValue: defaultValue.flatMap { $0.storedValue.isNull ? nil : $0.storedValue },
            isExportable: isExportable, renamedFrom: renamedFrom, transformers: transformers, format: format,
            column: column)
        check(AttributeFitting(Value.self), Value.attributeType)
    }

    /// Sets the check, unless the attribute is stored as another type than the Swift type's.
    private mutating func check(_ fitting: (any ValueFitting)?, _ type: AttributeType) {
        if self.type == type { check = ValueCheck(fitting) }
    }

    /// Creates an attribute with raw values of a Swift type.
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) where Value.RawValue: AttributeValue {
        self.init(
            name, Value.RawValue.self, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey, isKey: isKey,
            default: defaultValue?.rawValue, transformers: transformers, isExportable: isExportable,
            renamedFrom: renamedFrom, format: format, as: stored, column: column)
        check(RawFitting<Value>(), Value.RawValue.attributeType)
    }

    /// Creates an optional attribute with raw values of a Swift type.
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value?.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) where Value.RawValue: AttributeValue {
        self.init(
            name, Value.RawValue?.self, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey, isKey: isKey,
            default: defaultValue?.rawValue, transformers: transformers, isExportable: isExportable,
            renamedFrom: renamedFrom, format: format, as: stored, column: column)
        check(RawFitting<Value>(), Value.RawValue.attributeType)
    }

    /// Creates an attribute with `Codable` values, which are stored as JSON.
    @_disfavoredOverload
    public init<Value: Codable>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(
            name, stored ?? .json, remoteKey: remoteKey, isOptional: JSONCodedValue.isOptional(Value.self),
            defaultValue: defaultValue.flatMap { try? JSONCodedValue.json($0) }.map(StoredValue.json),
            isExportable: isExportable, renamedFrom: renamedFrom, transformers: transformers, format: format,
            column: column)
        check(CodedFitting<Value>(), .json)
    }
}

// MARK: - SyncModel.Relationship+Types

extension SyncModel.Relationship {
    /// Creates a relationship to the rows of a type.
    ///
    /// - Parameter inverse: The property of the inverse relationship.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: PartialKeyPath<Destination>? = nil, deleteRule: SyncModel.DeleteRule = .nullify,
        remoteKey: String? = nil, isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil,
        keyedBy: KeyedBy? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered,
            // A property that is no relationship stays in the model under its path, so that validation reports it.
            inverse: inverse.map { Destination.syncProperties[$0]?.name ?? "\($0)" }, deleteRule: deleteRule,
            remoteKey: remoteKey, isExportable: isExportable, isOptional: isOptional, renamedFrom: renamedFrom,
            keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }

    /// Creates a relationship to the rows of a type.
    ///
    /// - Parameter inverse: The name of the inverse relationship.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, remoteKey: String? = nil,
        isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil, keyedBy: KeyedBy? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered, inverse: inverse,
            deleteRule: deleteRule, remoteKey: remoteKey, isExportable: isExportable, isOptional: isOptional,
            renamedFrom: renamedFrom, keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }
}

// MARK: - SyncResult+Types

extension SyncResult {
    /// The changes of an entity, with keys of a Swift type.
    public struct TypedChanges<Key: AttributeValue>: Sendable {
        /// The keys of the inserted rows, in key order.
        public let inserted: [Key]
        /// The keys of the updated rows, in key order.
        public let updated: [Key]
        /// The keys of the deleted rows, including cascades.
        public let deleted: [Key]
    }

    /// Returns the changes of an entity, with keys of a Swift type. Keys that do not fit the type are omitted. For
    /// composite keys, use ``JSONValue``.
    package func typedChanges<Key: AttributeValue>(of entity: String, by type: Key.Type) -> TypedChanges<Key> {
        func key(_ key: PrimaryKeyValue) -> Key? {
            Coercion.storedValue(key.json, as: Key.attributeType).flatMap { Key(storedValue: $0) }
        }
        let changes = self[entity]
        return TypedChanges(
            inserted: changes.inserted.compactMap(key), updated: changes.updated.compactMap { key($0.key) },
            deleted: changes.deleted.compactMap(key))
    }
}
