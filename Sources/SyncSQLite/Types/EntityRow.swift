import GRDB
public import SyncCore

/// A row of an entity's table, from which an ``EntityRecord`` reads its properties.
public struct EntityRow {
    private let row: Row
    private let entity: String

    init(_ row: Row, of entity: String) {
        self.row = row
        self.entity = entity
    }

    /// The value of a column.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` if the row has no such column, or nothing of the type there.
    public func value<Value: AttributeValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        let stored = try storedValue(column, as: Value.attributeType)
        guard let value = Value(storedValue: stored) else { throw misfit(column, Value.self) }
        return value
    }

    /// The value with the raw value of a column.
    public func value<Value: RawRepresentable>(_ column: String, as type: Value.Type = Value.self) throws -> Value
    where Value.RawValue: AttributeValue {
        guard let value = Value(rawValue: try self.value(column, as: Value.RawValue.self)) else {
            throw misfit(column, Value.self)
        }
        return value
    }

    /// The value with the raw value of a column, or nil.
    public func value<Value: RawRepresentable>(_ column: String, as type: Value?.Type = Value?.self) throws -> Value?
    where Value.RawValue: AttributeValue {
        guard let raw = try self.value(column, as: Value.RawValue?.self) else { return nil }
        guard let value = Value(rawValue: raw) else { throw misfit(column, Value.self) }
        return value
    }

    /// The value that the JSON of a column is of.
    @_disfavoredOverload
    public func value<Value: Decodable>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        let json = try self.value(column, as: JSONValue.self)
        do {
            return try CodedValue.value(json)
        } catch {
            throw misfit(column, Value.self)
        }
    }

    private func storedValue(_ column: String, as type: AttributeType) throws -> StoredValue {
        guard row.hasColumn(column) else {
            throw SyncError(
                .valueDoesNotFit, "the row was read without the column '\(column)'", entity: entity, path: column)
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
            .valueDoesNotFit, "\(found) in the column '\(column)' is no \(type)", entity: entity, path: column)
    }
}
