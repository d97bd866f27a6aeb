/// A Swift type that declares an entity. The attributes and relationships of the entity are properties of the type.
/// Each value of the type describes a row.
///
/// `@Entity` generates the conformance. Without the macro, write the conformance by hand:
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
public protocol SyncEntity: RelationshipValue, Sendable {
    /// The name of the entity in the model.
    static var entityName: String { get }
    /// The declaration of the entity for a model. The declaration can repeat attributes and relationships of ancestors.
    static var syncEntity: SyncModel.Entity { get }
    /// The attribute or relationship of each property, by key path.
    static var syncProperties: [PartialKeyPath<Self>: SyncProperty] { get }
}

extension SyncEntity {
    /// The name of the Swift type, which is the default name of the entity.
    public static var entityName: String { "\(Self.self)" }
}

/// The attribute or relationship that corresponds to a property of a ``SyncEntity``.
public struct SyncProperty: Sendable, ExpressibleByStringLiteral {
    /// The name of the attribute or relationship in the model.
    package let name: String
    /// The Swift type of the destination entity of a relationship; nil for an attribute, and for the key property of a
    /// to-one relationship.
    package let destination: (any SyncEntity.Type)?
    // A key path without captured values can be used in several tasks.
    nonisolated(unsafe) fileprivate let inOptional: AnyKeyPath?

    /// Creates a property for an attribute or relationship.
    ///
    /// - Parameters:
    ///   - name: The name of the attribute or relationship in the model.
    ///   - destination: The Swift type of the destination entity of a relationship. Pass nil for an attribute, and for
    ///     the property with the key of the related row, such as `companyID`.
    ///   - inOptional: The key path of the property in an optional value, such as `\Company?.?.owner`. Without it, the
    ///     property cannot follow another one, as in `\.company?.owner`.
    public init(_ name: String, to destination: (any SyncEntity.Type)? = nil, inOptional: AnyKeyPath? = nil) {
        self.name = name
        self.destination = destination
        self.inOptional = inOptional
    }

    /// Creates a property for an attribute.
    public init(stringLiteral name: String) { self.init(name) }
}

extension Array where Element: SyncEntity {
    /// Each row of a to-many relationship, in a key path: `\.todos.each?.owner`. The value is the first row.
    public var each: Element? { first }
}

extension SyncEntity {
    /// The largest number of properties in a key path.
    private static var maximumSteps: Int { 4 }

    private static var allProperties: [SyncProperty] { Array(syncProperties.values) }

    /// Returns the names of a key path as a path of the model: `company.owner`. The path of another key path is not a
    /// path of the model, so that the call that uses it reports it.
    package static func modelPath(_ path: PartialKeyPath<Self>) -> String {
        properties(along: path)?.map(\.name).joined(separator: ".") ?? "\(path)"
    }

    /// Returns the properties of a key path such as `\.company?.owner`; nil for a key path with other properties.
    ///
    /// A key path cannot be divided. So the method compares it with the key paths of all properties, then with those of
    /// two properties, and so on.
    package static func properties(along path: PartialKeyPath<Self>) -> [SyncProperty]? {
        let own = syncProperties
        if let property = own[path] { return [property] }
        var reached = own.map { (path: $0.key as AnyKeyPath, properties: [$0.value]) }
        for _ in 1..<maximumSteps {
            var next: [(path: AnyKeyPath, properties: [SyncProperty])] = []
            for (start, properties) in reached {
                for property in properties.last?.destination?.allProperties ?? [] {
                    // A list has no properties, so nothing is appended to its path.
                    guard let last = property.inOptional, let longer = start.appending(path: last) else { continue }
                    if longer == path { return properties + [property] }
                    next.append((longer, properties + [property]))
                }
            }
            reached = next
        }
        return nil
    }
}

/// The loaded rows of a relationship: the storage that `@Entity` generates for a property with `@Relationship`.
///
/// The rows are in an array, so a struct can contain rows of the same type.
public struct RelatedRows<Row> {
    /// The loaded rows; nil if the rows were not loaded.
    ///
    /// If the rows are not loaded, a sync of the value that contains this storage does not change the links of a
    /// to-many relationship. For a to-one relationship, the sync takes the link from the property with the key of the
    /// related row, such as `companyID`. If that property contains a `RowNumber`, the sync does not change the link.
    public var rows: [Row]? { didSet { if oldValue == nil, rows != nil { isPartial = true } } }
    /// Whether rows were set while the rows of the relationship were not loaded. A sync of the value then adds them, and
    /// keeps the stored rows of a to-many relationship.
    package var isPartial = false

    /// Creates storage with loaded rows. Pass nil for rows that were not loaded.
    public init(_ rows: [Row]? = nil) { self.rows = rows }
}

extension RelatedRows: Sendable where Row: Sendable {}

// Only `rows` is compared and encoded.
extension RelatedRows: Equatable where Row: Equatable {
    /// Returns whether two storages have equal rows.
    public static func == (left: RelatedRows, right: RelatedRows) -> Bool { left.rows == right.rows }
}
extension RelatedRows: Hashable where Row: Hashable {
    /// Hashes the rows.
    public func hash(into hasher: inout Hasher) { hasher.combine(rows) }
}
extension RelatedRows: Codable where Row: Codable {
    private enum CodingKeys: CodingKey { case rows }

    /// Creates storage with decoded rows.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent([Row].self, forKey: .rows))
    }

    /// Encodes the rows.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(rows, forKey: .rows)
    }
}

/// The type of a property that is a relationship: an entity, or an optional, array or set of entities.
///
/// All types with `@Entity` conform. In a type with `@Entity`, the compiler rejects a property of a conforming type
/// without `@Relationship`, `@Stored` or `@Transient`.
public protocol RelationshipValue {}

extension Optional: RelationshipValue where Wrapped: RelationshipValue {}
extension Array: RelationshipValue where Element: RelationshipValue {}
extension Set: RelationshipValue where Element: RelationshipValue {}

/// The type of a property that becomes an attribute. The code that `@Entity` generates uses `PropertyType`, so that
/// the compiler rejects a relationship without `@Relationship`.
public enum PropertyType<Value> {
    /// The type of the property, which determines the attribute type.
    @_disfavoredOverload
    public static var attributeType: Value.Type { Value.self }
}

extension PropertyType where Value: RelationshipValue {
    /// An overload with an unavailable getter, so that the compiler rejects a relationship without `@Relationship`.
    ///
    /// Only the getter is unavailable. If the property were unavailable, the compiler would choose the other overload,
    /// and the generated code would store rows of a `Codable` entity as JSON.
    public static var attributeType: JSONValue.Type {
        @available(
            *, unavailable, message: "an entity is not an attribute type; mark the property with '@Relationship'"
        )
        get { JSONValue.self }
    }
}

// MARK: - SyncModel+Types

extension SyncModel {
    /// Creates a model from Swift types and validates the model.
    ///
    /// ```swift
    /// let model = try SyncModel(User.self, Note.self)
    /// ```
    /// - Parameters:
    ///   - types: The Swift types of all entities of the model.
    ///   - keyCase: The spelling of JSON keys, for entities that declare no spelling. If the value is nil, a sync reads
    ///     several spellings, and an export writes snake_case.
    ///   - ignoredKeys: The patterns of ignored JSON keys, such as `*_url`.
    /// - Throws: ``SyncError`` `invalidModel`, with all problems found.
    public init(_ types: any SyncEntity.Type..., keyCase: KeyCase? = nil, ignoredKeys: [String] = []) throws {
        try self.init(types: types, keyCase: keyCase, ignoredKeys: ignoredKeys)
    }

    /// Creates a model from an array of Swift types and validates the model.
    ///
    /// - Throws: ``SyncError`` `invalidModel` with all problems.
    package init(types: [any SyncEntity.Type], keyCase: KeyCase? = nil, ignoredKeys: [String] = []) throws {
        let declared = types.map { $0.syncEntity }
        let byName = Dictionary(declared.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        try self.init(
            entities: declared.map { $0.withoutMembers(of: Self.ancestors(of: $0, in: byName)) }, keyCase: keyCase,
            ignoredKeys: ignoredKeys)
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
    /// Returns the entity without inherited attributes and relationships. A struct repeats them, but a model declares
    /// each of them once.
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
    /// Creates an attribute with values of a Swift type.
    ///
    /// The attribute is optional if the type is optional, or if the attribute belongs to the primary key. The other
    /// parameters are the same as in the initializer with an ``AttributeType``.
    ///
    /// - Parameters:
    ///   - isPrimaryKey: Whether the model marks the attribute as the primary key or a part of the key.
    ///   - isKey: Whether the attribute belongs to the primary key for another reason: because of the name of the
    ///     attribute, or because the entity declares the key.
    ///   - defaultValue: The value of the attribute in new rows whose records omit the attribute.
    ///   - stored: The attribute type; nil for the attribute type of the Swift type.
    public init<Value: AttributeValue>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExported: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(
            name, stored ?? Value.attributeType, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey,
            isOptional: isPrimaryKey || isKey || Value.isOptional,
            defaultValue: defaultValue.flatMap { $0.storedValue.isNull ? nil : $0.storedValue },
            isExported: isExported, renamedFrom: renamedFrom, transformers: transformers, format: format,
            column: column)
        check(AttributeFitting(Value.self), Value.attributeType)
    }

    /// Sets the check of values, unless the attribute has another type than the Swift type.
    private mutating func check(_ fitting: (any ValueFitting)?, _ type: AttributeType) {
        if self.type == type { check = ValueCheck(fitting) }
    }

    /// Creates an attribute that stores the raw values of a Swift type, such as an enumeration.
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExported: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) where Value.RawValue: AttributeValue {
        self.init(
            name, Value.RawValue.self, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey, isKey: isKey,
            default: defaultValue?.rawValue, transformers: transformers, isExported: isExported,
            renamedFrom: renamedFrom, format: format, as: stored, column: column)
        check(RawFitting<Value>(), Value.RawValue.attributeType)
    }

    /// Creates an optional attribute that stores the raw values of a Swift type, such as an enumeration.
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value?.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExported: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) where Value.RawValue: AttributeValue {
        self.init(
            name, Value.RawValue?.self, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey, isKey: isKey,
            default: defaultValue?.rawValue, transformers: transformers, isExported: isExported,
            renamedFrom: renamedFrom, format: format, as: stored, column: column)
        check(RawFitting<Value>(), Value.RawValue.attributeType)
    }

    /// Creates an attribute that stores values of a `Codable` type as JSON. The attribute cannot belong to the primary
    /// key, so `isPrimaryKey` and `isKey` have no effect. A default value that cannot be encoded also has no effect.
    @_disfavoredOverload
    public init<Value: Codable>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExported: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(
            name, stored ?? .json, remoteKey: remoteKey, isOptional: JSONCodedValue.isOptional(Value.self),
            defaultValue: defaultValue.flatMap { try? JSONCodedValue.json($0) }.map(StoredValue.json),
            isExported: isExported, renamedFrom: renamedFrom, transformers: transformers, format: format,
            column: column)
        check(CodedFitting<Value>(), .json)
    }

    /// An initializer that cannot be called, so that the compiler reports a property that cannot be stored.
    @available(
        *, unavailable,
        message: "the type of the property cannot be stored; make it 'Codable', or mark the property with '@Transient'"
    )
    @_disfavoredOverload
    public init<Value>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExported: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(name, .json)
    }
}

// MARK: - SyncModel.Relationship+Types

extension SyncModel.Relationship {
    /// Creates a relationship to the entity of a Swift type.
    ///
    /// The other parameters are the same as in the initializer with the name of the destination entity.
    ///
    /// - Parameter inverse: The key path of the inverse relationship; nil if the relationship has no inverse, or if the
    ///   inverse names this relationship.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: PartialKeyPath<Destination>? = nil, deleteRule: SyncModel.DeleteRule = .nullify,
        remoteKey: String? = nil, isExported: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil,
        keyedBy: KeyedBy? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered,
            // A key path that is not a relationship becomes the name of the inverse, so that validation reports it.
            inverse: inverse.map { Destination.syncProperties[$0]?.name ?? "\($0)" }, deleteRule: deleteRule,
            remoteKey: remoteKey, isExported: isExported, isOptional: isOptional, renamedFrom: renamedFrom,
            keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }

    /// Creates a relationship to the entity of a Swift type, and names the inverse relationship.
    ///
    /// - Parameter inverse: The name of the inverse relationship.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, remoteKey: String? = nil,
        isExported: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil, keyedBy: KeyedBy? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered, inverse: inverse,
            deleteRule: deleteRule, remoteKey: remoteKey, isExported: isExported, isOptional: isOptional,
            renamedFrom: renamedFrom, keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }
}

// MARK: - SyncResult+Types

extension SyncResult {
    /// The changes of an entity, with keys of a Swift type. Keys that do not fit the type are omitted. All lists are
    /// empty if the ``SyncResult`` contains only counts.
    public struct TypedChanges<Key: AttributeValue>: Sendable {
        /// The keys of the inserted rows, in key order.
        public let inserted: [Key]
        /// The keys of the updated rows, in key order.
        public let updated: [Key]
        /// The keys of the deleted rows, in key order. Rows that delete rules deleted are included.
        public let deleted: [Key]
    }

    /// Returns the changes of an entity, with keys of a Swift type. Omits keys that do not fit the type. For composite
    /// keys, use ``JSONValue``.
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
