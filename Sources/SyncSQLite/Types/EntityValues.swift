import GRDB
public import SyncCore

/// The values of a row, as an ``EntityRecord`` gives them.
public struct EntityValues {
    /// A row that a to-one relationship leads to, by its key.
    struct Reference {
        let relationship: String
        let column: String
        let key: StoredValue
        /// Whether the key is a number of this store, which JSON does not know.
        let isRowNumber: Bool
    }

    private let entity: String
    private(set) var attributes: [(name: String, value: StoredValue, column: String)] = []
    private(set) var references: [Reference] = []
    /// The rows that relationships lead to, where they are known.
    private(set) var related: [String: [any EntityRecord]] = [:]

    init(of entity: String) { self.entity = entity }

    /// The value of an attribute.
    ///
    /// - Parameter column: Where it is stored, if that is not called as the attribute.
    public mutating func set<Value: AttributeValue>(_ attribute: String, to value: Value, in column: String? = nil)
        throws
    {
        attributes.append((attribute, value.storedValue, column ?? attribute))
    }

    /// The value of an attribute: the raw value.
    public mutating func set<Value: RawRepresentable>(_ attribute: String, to value: Value, in column: String? = nil)
        throws
    where Value.RawValue: AttributeValue {
        try set(attribute, to: value.rawValue, in: column)
    }

    /// The value of an attribute: the raw value, or nil.
    public mutating func set<Value: RawRepresentable>(_ attribute: String, to value: Value?, in column: String? = nil)
        throws
    where Value.RawValue: AttributeValue {
        try set(attribute, to: value?.rawValue, in: column)
    }

    /// The value of an attribute, as JSON.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` for what cannot be encoded.
    @_disfavoredOverload
    public mutating func set<Value: Encodable>(_ attribute: String, to value: Value, in column: String? = nil) throws {
        do {
            try set(attribute, to: CodedValue.json(value), in: column)
        } catch {
            throw SyncError(.valueDoesNotFit, "a \(Value.self) is no JSON: \(error)", entity: entity, path: attribute)
        }
    }

    /// The row that a to-one relationship leads to.
    ///
    /// - Parameter column: Where the key is stored.
    public mutating func refer<Key: AttributeValue>(_ relationship: String, to key: Key?, in column: String) {
        references.append(
            Reference(
                relationship: relationship, column: column, key: key?.storedValue ?? .null,
                isRowNumber: Key.self == RowNumber.self))
    }

    /// The rows that a relationship leads to; nil if they were not loaded.
    public mutating func relate<Row: EntityRecord>(_ relationship: String, to rows: [Row]?) {
        if let rows { related[relationship] = rows }
    }

    /// The columns of the row.
    var columns: [(String, DatabaseValue)] { get throws { try cells.map { ($0.column, $0.value) } } }

    /// The columns of the row, with the attribute or relationship that each is of.
    var cells: [(name: String, column: String, value: DatabaseValue)] {
        get throws {
            try attributes.map { ($0.name, $0.column, try stored($0.name, $0.value)) }
                + references.map { ($0.relationship, $0.column, try stored($0.column, $0.key)) }
        }
    }

    private func stored(_ name: String, _ value: StoredValue) throws -> DatabaseValue {
        let stored = ColumnValue.databaseValue(value, as: .string)
        if stored.isNull, !value.isNull {
            throw SyncError(.valueDoesNotFit, "\(value) cannot be stored", entity: entity, path: name)
        }
        if case .string(let text) = stored.storage, text.utf8.contains(0) {
            throw SyncError(
                .valueDoesNotFit, "GRDB cannot bind a text with a NUL; a sync can", entity: entity, path: name)
        }
        return stored
    }
}
