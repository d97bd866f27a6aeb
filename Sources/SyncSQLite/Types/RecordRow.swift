public import GRDB
public import SyncCore

/// The stored row of a value that lacks the primary key of its table. GRDB finds rows only by the primary key of the
/// table. This key can be a row number, for a composite key, or an ID of the app beside the remote ID.
struct RecordRow: Sendable {
    private typealias Cell = (column: String, value: DatabaseValue)

    private let table: String
    private let key: [BinaryComparedValue]
    private let primaryKey: [Cell]

    /// The row of the value that GRDB is saving or deleting.
    @TaskLocal private static var current: RecordRow?

    /// Looks up the row of a value, and makes it current while `body` runs.
    ///
    /// - Parameter needsKey: Whether to throw for a value of a keyless entity, whose row GRDB cannot find.
    /// - Throws: ``SyncError`` `keylessEntity`, `typeMismatch`, and errors of SQLite.
    static func during<Value: EntityRecord, Result>(
        _ value: Value, needsKey: Bool = false, _ db: Database, _ body: () throws -> Result
    ) throws -> Result {
        try $current.withValue(find(value, needsKey, db), operation: body)
    }

    /// Returns whether a row has the key of a value.
    static func exists<Value: EntityRecord>(_ value: Value, _ db: Database) throws -> Bool {
        var values = EntityRowEncoder(of: Value.self)
        try value.encode(into: &values)
        guard let key = try key(of: Value.self, values), !key.contains(where: \.value.isNull) else { return false }
        return try Row.fetchOne(
            db, sql: "SELECT 1 FROM \(Value.databaseTableName.quoted) WHERE \(condition(key))",
            arguments: StatementArguments(key.map(\.value))) != nil
    }

    private static func condition(_ key: [Cell]) -> String {
        key.map { "\($0.column.quoted) IS ?" }.joined(separator: " AND ")
    }

    /// Runs `body` without a current row, for a value that becomes a new row.
    static func unknown<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(nil, operation: body)
    }

    /// Adds the primary key of the table to the columns of a value, if the current row is its row.
    static func complete<Value: EntityRecord>(
        _ container: inout PersistenceContainer, _ type: Value.Type, _ values: EntityRowEncoder
    ) throws {
        guard let current, current.table == Value.databaseTableName,
            try key(of: type, values)?.map(\.value.exact) == current.key
        else { return }
        for (column, value) in current.primaryKey { container[column] = value }
    }

    /// Finds the row of a value. Returns nil for a view, if the value contains the primary key of the table, or if no
    /// row has its key.
    private static func find<Value: EntityRecord>(
        _ value: Value, _ needsKey: Bool, _ db: Database
    ) throws -> RecordRow? {
        let table = Value.databaseTableName
        // For a view, SQLite reports the unsupported operation.
        guard try db.tableExists(table) else { return nil }
        let primaryKey = try db.primaryKey(table).columns
        var values = EntityRowEncoder(of: Value.self)
        try value.encode(into: &values)
        let given = Set(try values.columns.map { $0.0.foldedForSQL })
        guard primaryKey.contains(where: { !given.contains($0.foldedForSQL) }) else { return nil }
        guard let key = try key(of: Value.self, values) else {
            guard needsKey else { return nil }
            throw SyncError(
                .keylessEntity,
                "'\(Value.entityName)' has no primary key; update its rows with SQL, or sync their owner",
                entity: Value.entityName)
        }
        // Several rows may lack a part of the key, so an incomplete key does not identify a row.
        guard !key.contains(where: \.value.isNull) else { return nil }
        let row = try Row.fetchOne(
            db,
            sql:
                "SELECT \(primaryKey.map(\.quoted).joined(separator: ", ")) FROM \(table.quoted) WHERE \(condition(key))",
            arguments: StatementArguments(key.map(\.value)))
        guard let row else { return nil }
        return RecordRow(
            table: table, key: key.map(\.value.exact), primaryKey: Array(zip(primaryKey, row.databaseValues)))
    }

    /// Returns the columns of the entity's primary key, with their values. Returns nil if the entity has no primary
    /// key, or if the value lacks a part.
    private static func key<Value: EntityRecord>(of type: Value.Type, _ values: EntityRowEncoder) throws -> [Cell]? {
        let names = Value.syncEntity.keyNames
        let cells = try values.cells.filter { names.contains($0.name) }.map { ($0.column, $0.value) }
        return cells.isEmpty || cells.count < names.count ? nil : cells
    }
}

extension SyncModel.Entity {
    /// The names of the attributes and relationships of the primary key; empty for a keyless entity.
    fileprivate var keyNames: [String] {
        if let primaryKey { return primaryKey.parts }
        let marked = attributes.filter(\.isPrimaryKey).map(\.name)
        guard marked.isEmpty else { return marked }
        return SyncModel.PrimaryKey.defaultName(among: attributes).map { [$0] } ?? []
    }
}

// GRDB calls these methods around each write of a record, even if it knows the record only as a generic
// `PersistableRecord`.
extension EntityRecord {
    /// Runs a save or an update of GRDB that identifies the row by the primary key of the entity.
    ///
    /// If a type implements this method, GRDB identifies the row only by the primary key of the table.
    public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        _ = try RecordRow.during(self, db, save)
    }

    /// Runs an insertion of GRDB that adds a new row. If the value lacks the integer primary key of the table, SQLite
    /// assigns the key.
    public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        _ = try RecordRow.unknown(insert)
    }

    /// Runs a deletion that GRDB performs. The deletion identifies the row by the primary key of the entity.
    ///
    /// - Throws: ``SyncError`` `keylessEntity` for a value of a keyless entity.
    public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        _ = try RecordRow.during(self, needsKey: true, db, delete)
    }

    /// Returns whether a row has the primary key of the value; false if the key is missing or incomplete.
    public func exists(_ db: Database) throws -> Bool { try RecordRow.exists(self, db) }
}

/// The surrogate key of a row in one store. A foreign key contains a surrogate key if the referenced row has a
/// composite key or no primary key.
public struct RowNumber: AttributeValue, Hashable {
    /// The surrogate key of the row.
    public let value: Int64

    /// The coding as an integer attribute.
    public static let attributeCoding = AttributeCoding<RowNumber>(
        .integer, decode: { $0.int.map { RowNumber(value: $0) } }, encode: { .integer($0.value) })
}
