public import GRDB
public import SyncCore

/// A Swift type whose values represent rows of an entity. The type is also a record type of GRDB.
///
/// The macro `@Entity` generates the conformance. To read the tables of a stack, use `User.fetchAll(db)`, the query
/// interface or `ValueObservation` of GRDB.
///
/// GRDB's `insert`, `update` and `save` write columns in the same format as a sync. These methods cannot write rows of
/// a subentity, because the table name of a subentity is the name of a view. `update`, `save`, `delete` and `exists`
/// identify the row by the primary key of the entity, even if the table has a different primary key.
public protocol EntityRecord: SyncEntity, FetchableRecord, PersistableRecord {
    /// The type of ``syncKey``: the type of the primary key, or ``RowNumber`` if the primary key is not a single
    /// attribute.
    associatedtype SyncKey: AttributeValue

    /// The key by which foreign keys reference the row; nil if the value does not contain this key.
    var syncKey: SyncKey? { get }

    /// The primary key as JSON. A composite key is an array. For a keyless entity, or if the key is nil, the value is
    /// null.
    var syncID: JSONValue { get }

    /// The row of the value as it was fetched or last saved. `DataStack` sets and uses this property, so that a save
    /// writes only what changed since. A type that does not store it has an empty state, and a save writes all values.
    /// A type that calls ``FetchedRow/recordEdit()`` for each edit can be copied without surprises.
    var syncFetchedRow: FetchedRow { get set }

    /// Creates a value from a row.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that does not fit the type of its property.
    init(entityRow row: EntityRowDecoder) throws

    /// Encodes the values of the row.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be encoded.
    func encode(into row: inout EntityRowEncoder) throws

    /// Sets the loaded rows of a relationship. For a to-one relationship, `rows` has at most one element.
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String)
}

extension EntityRecord {
    /// An empty state, which cannot be set.
    public var syncFetchedRow: FetchedRow {
        get { FetchedRow() }
        set {}
    }

    /// Does nothing. Types without relationships use this default implementation.
    public mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) {}

    /// Returns a primary key as JSON: a single part, an array of several parts, or null if there are no parts.
    public static func syncID(of parts: any AttributeValue...) -> JSONValue {
        parts.count == 1
            ? keyPart(parts[0]) : parts.isEmpty ? .null : .array(parts.map { keyPart($0) })
    }

    /// The name of the table of the entity; by default, the name of the entity.
    ///
    /// For a subentity, the property contains the name of a view, which contains only the rows of the subentity.
    /// Existing tables have no such views, so GRDB throws `no such table`. Use `DataStack.fetch` instead.
    public static var databaseTableName: String { entityName }

    /// Creates a value from a row that GRDB fetched.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that does not fit the type of its property.
    public init(row: Row) throws { try self.init(entityRow: EntityRowDecoder(row, of: Self.self)) }

    /// Encodes the columns of the row in the same format as a sync.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be encoded, and for a string with a NUL
    ///   character.
    public func encode(to container: inout PersistenceContainer) throws {
        var values = EntityRowEncoder(of: Self.self)
        try encode(into: &values)
        // GRDB writes the value, and the caller may roll the write back.
        try syncFetchedRow.addPossible(RowContents(values, key: syncID))
        for (column, value) in try values.columns { container[column] = value }
        try RecordRow.complete(&container, Self.self, values)
    }
}

/// Returns a part of a key as JSON. It is not a member, because the compiler crashes if a protocol extension opens the
/// existential.
private func keyPart(_ value: any AttributeValue) -> JSONValue { value.storedValue.jsonForm }

/// A column in GRDB's query interface. A UUID is stored as an uppercase string. Compare the column of a UUID attribute
/// with a `uuidString`.
public typealias EntityColumn = Column

/// An encoder that receives the values of a row from an ``EntityRecord``.
public struct EntityRowEncoder {
    /// The value of an attribute.
    struct Attribute {
        let name: String
        let value: StoredValue
        let column: String
    }

    /// A to-one link to a row, by its key.
    struct Reference {
        let relationship: String
        let column: String
        let key: StoredValue
        /// Whether the key is a ``RowNumber``, which has no meaning in JSON.
        let isRowNumber: Bool
    }

    private let type: any EntityRecord.Type
    private var entity: String { type.entityName }
    private(set) var attributes: [Attribute] = []
    private(set) var references: [Reference] = []
    /// The related rows of each loaded relationship.
    private(set) var related: [String: [any EntityRecord]] = [:]
    /// The to-many relationships to which rows were added while their rows were not loaded.
    private(set) var partial: Set<String> = []

    init(of type: any EntityRecord.Type) { self.type = type }

    /// - Throws: The errors of ``EntityRecord/encode(into:)``.
    init<Value: EntityRecord>(encoding value: Value) throws {
        self.init(of: Value.self)
        try value.encode(into: &self)
    }

    /// Encodes the value of an attribute.
    ///
    /// - Parameter column: The name of the column; nil if the column has the name of the attribute.
    public mutating func set<Value: AttributeValue>(_ attribute: String, to value: Value, in column: String? = nil)
        throws
    {
        attributes.append(Attribute(name: attribute, value: value.storedValue, column: column ?? attribute))
    }

    /// Encodes the raw value of an attribute.
    ///
    /// - Parameter column: The name of the column; nil if the column has the name of the attribute.
    public mutating func set<Value: RawRepresentable>(_ attribute: String, to value: Value, in column: String? = nil)
        throws
    where Value.RawValue: AttributeValue {
        try set(attribute, to: value.rawValue, in: column)
    }

    /// Encodes the raw value of an optional attribute.
    ///
    /// - Parameter column: The name of the column; nil if the column has the name of the attribute.
    public mutating func set<Value: RawRepresentable>(_ attribute: String, to value: Value?, in column: String? = nil)
        throws
    where Value.RawValue: AttributeValue {
        try set(attribute, to: value?.rawValue, in: column)
    }

    /// Encodes the value of an attribute as JSON.
    ///
    /// - Parameter column: The name of the column; nil if the column has the name of the attribute.
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be encoded.
    @_disfavoredOverload
    public mutating func set<Value: Encodable>(_ attribute: String, to value: Value, in column: String? = nil) throws {
        try setJSON(attribute, to: value, in: column)
    }

    private mutating func setJSON<Value: Encodable>(_ attribute: String, to value: Value, in column: String?) throws {
        do {
            try set(attribute, to: JSONCodedValue.json(value), in: column)
        } catch {
            throw SyncError(
                .typeMismatch, "cannot encode a \(Value.self) as JSON: \(error)", entity: entity, path: attribute)
        }
    }

    /// Encodes rows of a `Codable` entity as the JSON value of an attribute.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that cannot be encoded.
    @_disfavoredOverload
    public mutating func set<Value: RelationshipValue & Encodable>(
        _ attribute: String, to value: Value, in column: String? = nil
    ) throws {
        try setJSON(attribute, to: value, in: column)
    }

    /// Fails, because an attribute cannot have rows as its value if their type is not `Codable`. With this method, the
    /// compiler reports a relationship without `@Relationship` only once.
    ///
    /// - Throws: ``SyncError`` `typeMismatch`.
    @_disfavoredOverload
    public mutating func set<Value: RelationshipValue>(_ attribute: String, to value: Value, in column: String? = nil)
        throws
    {
        throw SyncError(
            .typeMismatch, "\(Value.self) is not an attribute type; '\(attribute)' must be a relationship",
            entity: entity, path: attribute)
    }

    /// Fails, because no attribute can have the value. With this method, the compiler reports a property that cannot be
    /// stored only once.
    ///
    /// - Throws: ``SyncError`` `typeMismatch`.
    @_disfavoredOverload
    public mutating func set<Value>(_ attribute: String, to value: Value, in column: String? = nil) throws {
        throw SyncError(
            .typeMismatch, "\(Value.self) is not an attribute type", entity: entity, path: attribute)
    }

    /// Encodes the foreign key of a to-one relationship.
    ///
    /// If the foreign key is in the table of the related row, GRDB does not write the key, and a sync takes nil to mean
    /// that the link stays unchanged.
    ///
    /// - Parameters:
    ///   - key: The key of the referenced row; nil if no row is referenced.
    ///   - column: The name of the foreign key column.
    public mutating func setForeignKey<Key: AttributeValue>(_ relationship: String, to key: Key?, in column: String) {
        references.append(
            Reference(
                relationship: relationship, column: column, key: key?.storedValue ?? .null,
                isRowNumber: Key.self == RowNumber.self))
    }

    /// Encodes the loaded rows of a relationship. If `rows` is nil, the relationship is not loaded and the call does
    /// nothing.
    public mutating func setRelated<Row: EntityRecord>(_ relationship: String, to rows: [Row]?) {
        if let rows { related[relationship] = rows }
    }

    /// Encodes the storage of a to-many relationship. A save adds rows that were set while the rows of the relationship
    /// were not loaded.
    public mutating func setRelated<Row: EntityRecord>(_ relationship: String, to storage: RelatedRows<Row>) {
        setRelated(relationship, to: storage.rows)
        if storage.isPartial { partial.insert(relationship) }
    }

    /// Encodes the storage of a to-one relationship. If the key is not that of the loaded row, the relationship counts
    /// as not loaded.
    ///
    /// - Parameter key: The value of the property with the key of the related row, such as `companyID`.
    public mutating func setRelated<Row: EntityRecord>(
        _ relationship: String, to storage: RelatedRows<Row>, withKey key: (some AttributeValue)?
    ) {
        if storage.hasKey(key) { setRelated(relationship, to: storage) }
    }

    /// The columns of the row, with their values.
    var columns: [(String, DatabaseValue)] { get throws { try cells.map { ($0.column, $0.value) } } }

    /// The columns of the row, each with its attribute or relationship.
    var cells: [(name: String, column: String, value: DatabaseValue)] {
        get throws {
            let missing = references.isEmpty ? [] : InverseForeignKeys.columns(of: type)
            let own = references.filter { !missing.contains($0.column) }
            return try attributes.map { ($0.name, $0.column, try stored($0.name, $0.value)) }
                + own.map { ($0.relationship, $0.column, try stored($0.column, $0.key)) }
        }
    }

    private func stored(_ name: String, _ value: StoredValue) throws -> DatabaseValue {
        let stored = ColumnValue.databaseValue(value, as: .string)
        if stored.isNull, !value.isNull {
            throw SyncError(.typeMismatch, "\(value) cannot be stored", entity: entity, path: name)
        }
        if case .string(let text) = stored.storage, text.utf8.contains(0) {
            throw SyncError(
                .typeMismatch, "GRDB cannot bind a string with a NUL character; write the row with a sync",
                entity: entity, path: name)
        }
        return stored
    }
}

// MARK: - RelatedRows+Loading

extension RelatedRows where Row: EntityRecord {
    /// Sets the loaded rows. The call omits rows that are not of the type `Row`.
    public mutating func load(_ rows: [any EntityRecord]) {
        self.rows = rows.compactMap { $0 as? Row }
        isPartial = false
    }

    /// Returns the loaded row of a to-one relationship; nil if no row is loaded, or if the row has another key.
    ///
    /// - Parameter key: The value of the property with the key of the related row, such as `companyID`.
    public func row(withKey key: (some AttributeValue)?) -> Row? { hasKey(key) ? rows?.first : nil }

    /// Returns whether the loaded row of a to-one relationship has a key. A row without a key has any ``RowNumber``.
    fileprivate func hasKey<Key: AttributeValue>(_ key: Key?) -> Bool {
        guard let row = rows?.first else { return key == nil || rows == nil }
        guard let own = row.syncKey else { return key == nil || Key.self == RowNumber.self }
        return own.storedValue == key?.storedValue
    }
}

// MARK: - SyncResult+EntityRecord

extension SyncResult {
    /// The changes of the entity of a Swift type, without the changes of subentities.
    ///
    /// For example, `result[User.self].inserted` contains `Int` keys if the primary key of `User` is an `Int`.
    public subscript<Value: EntityRecord>(type: Value.Type) -> TypedChanges<Value.SyncKey> {
        typedChanges(of: Value.entityName, by: Value.SyncKey.self)
    }

    /// The changes of the rows of a type whose primary key is not a single attribute, without the changes of
    /// subentities. A composite key is an array of its parts, as ``EntityRecord/syncID`` is. The key of a row of a
    /// keyless entity is its surrogate key.
    public subscript<Value: EntityRecord>(type: Value.Type) -> TypedChanges<JSONValue>
    where Value.SyncKey == RowNumber {
        typedChanges(of: Value.entityName, by: JSONValue.self)
    }
}

/// The names of the foreign key columns that the rows of a Swift type lack, although the type has a property for the
/// key of the related row.
///
/// Of two inverse to-one relationships only one has a foreign key column. The rule is that of a model. It is applied to
/// the declarations of the two types, because GRDB reads and writes records without a model.
enum InverseForeignKeys {
    private static let known = Locked<[ObjectIdentifier: Set<String>]>([:])

    static func columns(of type: any SyncEntity.Type) -> Set<String> {
        if let columns = known.withLock({ $0[ObjectIdentifier(type)] }) { return columns }
        let columns = Set(missing(in: type))
        known.withLock { $0[ObjectIdentifier(type)] = columns }
        return columns
    }

    private static func missing<Value: SyncEntity>(in type: Value.Type) -> [String] {
        let entity = type.syncEntity
        return entity.relationships.filter { !$0.isToMany }.compactMap { relationship in
            let property = type.syncProperties.values.first { $0.name == relationship.name && $0.destination != nil }
            guard let other = property?.destination?.syncEntity,
                let inverse = inverse(of: relationship, entity.name, in: other),
                !CompiledAssociation.isFirst(
                    relationship, named: "\(entity.name).\(relationship.name)", beside: inverse,
                    named: "\(other.name).\(inverse.name)")
            else { return nil }
            return relationship.keyColumn
        }
    }

    private static func inverse(
        of relationship: SyncModel.Relationship, _ entity: String, in other: SyncModel.Entity
    ) -> SyncModel.Relationship? {
        other.relationships.first { candidate in
            relationship.inverse.map { $0 == candidate.name }
                ?? (candidate.inverse == relationship.name && candidate.destination == entity)
        }
    }
}

extension SyncModel.Relationship {
    /// The column with the key of the related row, as a Swift type names it.
    var keyColumn: String { column ?? "\(name)ID" }
}
