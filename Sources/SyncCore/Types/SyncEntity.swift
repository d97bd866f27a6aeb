/// A Swift type that is an entity: its stored properties are the attributes, its values are rows.
///
/// `@Entity` writes the conformance; without the macro it is written by hand:
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
    /// What the entity is called in the model.
    static var entityName: String { get }
    /// The entity as a model declares it. Of a type whose entity has a parent it may repeat what that declares.
    static var syncEntity: SyncModel.Entity { get }
    /// Which attribute or relationship each property is.
    static var syncProperties: [PartialKeyPath<Self>: SyncProperty] { get }
}

extension SyncEntity {
    /// The type's own name.
    public static var entityName: String { "\(Self.self)" }
}

/// An attribute or relationship that a property of a ``SyncEntity`` is.
public struct SyncProperty: Sendable, ExpressibleByStringLiteral {
    /// The local name in the model.
    public let name: String
    /// The type of the rows that a relationship leads to; nil for an attribute.
    public let destination: (any SyncEntity.Type)?

    /// An attribute, or a relationship to rows of a type.
    public init(_ name: String, to destination: (any SyncEntity.Type)? = nil) {
        self.name = name
        self.destination = destination
    }

    /// An attribute.
    public init(stringLiteral name: String) { self.init(name) }
}

/// The rows that a relationship of a value leads to, as far as they were loaded: what `@Entity` keeps for a property with
/// `@Relationship`. In memory of its own, so that types may refer to themselves and to each other.
///
/// `Row` has no constraint. With one, the compiler would need the conformances of a type for the properties of that type, which
/// it does not have yet under `.defaultIsolation(MainActor.self)`.
public struct RelatedRows<Row> {
    /// The rows; nil if they were not loaded, so that nothing is said of them.
    public var rows: [Row]?

    /// Rows that were loaded; without any, nothing is known.
    public init(_ rows: [Row]? = nil) { self.rows = rows }
}

extension RelatedRows: Sendable where Row: Sendable {}
extension RelatedRows: Equatable where Row: Equatable {}
extension RelatedRows: Hashable where Row: Hashable {}
extension RelatedRows: Codable where Row: Codable {}

// MARK: - SyncModel+Types

extension SyncModel {
    /// The model of Swift types, checked together.
    ///
    /// ```swift
    /// let model = try SyncModel(User.self, Note.self)
    /// ```
    /// - Parameters:
    ///   - keys: How the keys of JSON are spelled where an entity does not say.
    ///   - ignore: Patterns of keys that nothing is wanted of.
    /// - Throws: ``SyncError`` `invalidModel` with every problem found.
    public init(_ types: any SyncEntity.Type..., keys: KeyCase? = nil, ignore: [String] = []) throws {
        try self.init(types: types, keys: keys, ignore: ignore)
    }

    /// The model of Swift types, checked together.
    ///
    /// - Throws: ``SyncError`` `invalidModel` with every problem found.
    public init(types: [any SyncEntity.Type], keys: KeyCase? = nil, ignore: [String] = []) throws {
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
    /// A struct has the properties of the entities above it too, which a model declares once.
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
    /// An attribute whose values are of a Swift type, which says whether they may be nil. A key is stored either way.
    ///
    /// - Parameters:
    ///   - isKey: Whether it is the primary key, or a part of it, by its name or by what the entity says.
    ///   - defaultValue: The value of new rows that are given none.
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

    /// What is of another type in the store is not read as the Swift type either.
    private mutating func check(_ fitting: (any ValueFitting)?, _ type: AttributeType) {
        if self.type == type { check = ValueCheck(fitting) }
    }

    /// An attribute whose values are the raw values of a Swift type.
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

    /// An attribute whose values are the raw values of a Swift type, or nil.
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

    /// An attribute whose values are kept as JSON.
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
    /// A relationship to the rows of a type.
    ///
    /// - Parameter inverse: The property of those that leads back.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: PartialKeyPath<Destination>? = nil, deleteRule: SyncModel.DeleteRule = .nullify,
        remoteKey: String? = nil, isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil,
        keyedBy: KeyedBy? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered,
            // One that is no relationship is a problem of the model, named by what was written.
            inverse: inverse.map { Destination.syncProperties[$0]?.name ?? "\($0)" }, deleteRule: deleteRule,
            remoteKey: remoteKey, isExportable: isExportable, isOptional: isOptional, renamedFrom: renamedFrom,
            keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }

    /// A relationship to the rows of a type.
    ///
    /// - Parameter inverse: The name of the relationship that leads back.
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
    /// What happened to the rows of a type's entity, by the keys of its values.
    public struct TypedChanges<Key: AttributeValue>: Sendable {
        /// The keys of new rows, in key order.
        public let inserted: [Key]
        /// The keys of stored rows that were written, in key order.
        public let updated: [Key]
        /// The keys of rows deleted, cascades included.
        public let deleted: [Key]
    }

    /// What happened to the rows of an entity, by keys of a Swift type. Keys that are none of it are left out; of a key of
    /// several parts use ``JSONValue``.
    public func typedChanges<Key: AttributeValue>(of entity: String, by type: Key.Type) -> TypedChanges<Key> {
        func key(_ key: PrimaryKeyValue) -> Key? {
            Coercion.storedValue(key.json, as: Key.attributeType).flatMap { Key(storedValue: $0) }
        }
        let changes = self[entity]
        return TypedChanges(
            inserted: changes.inserted.compactMap(key), updated: changes.updated.compactMap { key($0.key) },
            deleted: changes.deleted.compactMap(key))
    }
}
