public import GRDB
public import SyncCore

/// A Swift type whose values are rows of an entity: of a stack, and of GRDB.
///
/// `@Entity` writes all of it. It is also a record of GRDB's, so that `User.fetchAll(db)`, its query interface and
/// `ValueObservation` read the tables of a stack, and `insert`, `update` and `save` write them as syncs do. `update`, `save`,
/// `delete` and `exists` find the row by the key of the entity, whatever the primary key of the table is.
public protocol EntityRecord: SyncEntity, FetchableRecord, PersistableRecord {
    /// What other rows refer to it by: the type of its key, or ``RowNumber`` where that has several parts.
    associatedtype SyncKey: AttributeValue

    /// What other rows refer to it by; nil where that is not known here.
    var syncKey: SyncKey? { get }

    /// Its key, as JSON names it: an array of the parts, if it has several; null if it has none.
    var syncID: JSONValue { get }

    /// Reads a row.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` for a value that is none of its property's type.
    init(entityRow row: EntityRow) throws

    /// Gives the values of a row.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` for a value that cannot be encoded.
    func encode(into row: inout EntityValues) throws

    /// Takes the rows that a relationship leads to.
    mutating func load(_ rows: [any EntityRecord], of relationship: String)
}

extension EntityRecord {
    /// It has no relationships.
    public mutating func load(_ rows: [any EntityRecord], of relationship: String) {}

    /// The key that JSON names a row by: a value, or of several parts an array.
    public static func syncID(of parts: any AttributeValue...) -> JSONValue {
        parts.count == 1
            ? parts[0].storedValue.jsonForm : parts.isEmpty ? .null : .array(parts.map(\.storedValue.jsonForm))
    }

    /// The table of the entity, where the model names no other; of one that inherits, the view of its rows in the table that
    /// it shares.
    public static var databaseTableName: String { entityName }

    /// Reads a row that GRDB has fetched.
    public init(row: Row) throws { try self.init(entityRow: EntityRow(row, of: Self.entityName)) }

    /// Gives the columns of the row, as syncs write them.
    public func encode(to container: inout PersistenceContainer) throws {
        var values = EntityValues(of: Self.entityName)
        try encode(into: &values)
        for (column, value) in try values.columns { container[column] = value }
        try RecordRow.complete(&container, Self.self, values)
    }
}
