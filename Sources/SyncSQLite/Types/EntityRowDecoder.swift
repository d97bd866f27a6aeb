import GRDB
public import SyncCore

/// A decoder that supplies the values of a row to an ``EntityRecord``.
public struct EntityRowDecoder {
    private let row: Row
    private let type: any EntityRecord.Type
    private var entity: String { type.entityName }

    init(_ row: Row, of type: any EntityRecord.Type) {
        self.row = row
        self.type = type
    }

    /// Returns the value of a column.
    ///
    /// The value is nil for the key of a to-one relationship whose foreign key is in the table of the related row,
    /// unless `DataStack` fetched the row.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if the row has no such column, or if the value does not fit the type.
    public func value<Value: AttributeValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        let stored = try storedValue(column, as: Value.attributeType)
        guard let value = Value(storedValue: stored) else { throw misfit(column, Value.self) }
        return value
    }

    /// Returns a value whose raw value is in a column.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if the row has no such column, or if the value does not fit the type.
    public func value<Value: RawRepresentable>(_ column: String, as type: Value.Type = Value.self) throws -> Value
    where Value.RawValue: AttributeValue {
        guard let value = Value(rawValue: try self.value(column, as: Value.RawValue.self)) else {
            throw misfit(column, Value.self)
        }
        return value
    }

    /// Returns a value whose raw value is in a column; nil if the column is NULL.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if the row has no such column, or if the value does not fit the type.
    public func value<Value: RawRepresentable>(_ column: String, as type: Value?.Type = Value?.self) throws -> Value?
    where Value.RawValue: AttributeValue {
        guard let raw = try self.value(column, as: Value.RawValue?.self) else { return nil }
        guard let value = Value(rawValue: raw) else { throw misfit(column, Value.self) }
        return value
    }

    /// Decodes a value from the JSON in a column.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if the row has no such column, or if the value does not fit the type.
    @_disfavoredOverload
    public func value<Value: Decodable>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        try jsonValue(column)
    }

    /// Decodes rows of a `Codable` entity from the JSON in a column.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if the row has no such column, or if the value does not fit the type.
    @_disfavoredOverload
    public func value<Value: RelationshipValue & Decodable>(_ column: String, as type: Value.Type = Value.self) throws
        -> Value
    {
        try jsonValue(column)
    }

    /// Fails, because a column cannot contain rows if their type is not `Codable`. With this method, the compiler
    /// reports a relationship without `@Relationship` only once.
    ///
    /// - Throws: ``SyncError`` `typeMismatch`.
    @_disfavoredOverload
    public func value<Value: RelationshipValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        throw SyncError(
            .typeMismatch, "\(Value.self) is not an attribute type; '\(column)' must be a relationship",
            entity: entity, path: column)
    }

    /// Fails, because no column can contain the value. With this method, the compiler reports a property that cannot be
    /// stored only once.
    ///
    /// - Throws: ``SyncError`` `typeMismatch`.
    @_disfavoredOverload
    public func value<Value>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        throw SyncError(.typeMismatch, "\(Value.self) is not an attribute type", entity: entity, path: column)
    }

    private func jsonValue<Value: Decodable>(_ column: String) throws -> Value {
        let json = try self.value(column, as: JSONValue.self)
        do {
            return try JSONCodedValue.value(json)
        } catch {
            var misfit = misfit(column, Value.self)
            if let reason = JSONCodedValue.reason(error) { misfit.message += ": \(reason)" }
            throw misfit
        }
    }

    private func storedValue(_ column: String, as type: AttributeType) throws -> StoredValue {
        guard row.hasColumn(column) else {
            if InverseForeignKeys.columns(of: self.type).contains(column) { return .null }
            throw SyncError(
                .typeMismatch, "the row was read without the column '\(column)'", entity: entity, path: column)
        }
        var value: DatabaseValue = row[column]
        if case .string = value.storage, type == .string || type == .url {
            value = try row.withUnsafeData(named: column) { ColumnValue.text($0) }
        }
        let stored = ColumnValue.storedValue(value, as: type)
        if stored.isNull, !value.isNull { throw misfit(column, type) }
        return stored
    }

    private func misfit(_ column: String, _ type: Any) -> SyncError {
        let value: DatabaseValue = row[column]
        let found = value.isNull ? "nil" : "\(value)"
        return SyncError(
            .typeMismatch, "the value \(found) in the column '\(column)' is not of type \(type)", entity: entity,
            path: column)
    }
}
