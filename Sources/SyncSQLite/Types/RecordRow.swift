public import GRDB
public import SyncCore

/// The stored row that a value is, where the primary key of the table is nothing that the value has: the number of a row whose
/// key has several parts, or an id of the app's own beside the service's. GRDB looks rows up by the primary key.
struct RecordRow: Sendable {
    private typealias Cell = (column: String, value: DatabaseValue)

    private let table: String
    private let key: [DatabaseValue]
    private let primaryKey: [Cell]

    /// The row of the value that GRDB saves or deletes just now.
    @TaskLocal private static var current: RecordRow?

    /// Looks the row of a value up, which then is known while `body` runs.
    ///
    /// - Parameter needsKey: Whether a value without a key is refused, for which GRDB finds no row.
    /// - Throws: ``SyncError`` `keylessEntity`, `valueDoesNotFit`, and what SQLite says.
    static func during<Value: EntityRecord, Result>(
        _ value: Value, needsKey: Bool = false, _ db: Database, _ body: () throws -> Result
    ) throws -> Result {
        try $current.withValue(find(value, needsKey, db), operation: body)
    }

    /// Whether there is a row with the key of a value.
    static func exists<Value: EntityRecord>(_ value: Value, _ db: Database) throws -> Bool {
        var values = EntityRowEncoder(of: Value.entityName)
        try value.encode(into: &values)
        guard let key = try key(of: Value.self, values), !key.contains(where: \.value.isNull) else { return false }
        return try Row.fetchOne(
            db, sql: "SELECT 1 FROM \(Value.databaseTableName.quoted) WHERE \(condition(key))",
            arguments: StatementArguments(key.map(\.value))) != nil
    }

    private static func condition(_ key: [Cell]) -> String {
        key.map { "\($0.column.quoted) IS ?" }.joined(separator: " AND ")
    }

    /// Runs `body` for a value that becomes a new row.
    static func unknown<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(nil, operation: body)
    }

    /// Adds the primary key to the columns of a value, if they are those of the row that was looked up.
    static func complete<Value: EntityRecord>(
        _ container: inout PersistenceContainer, _ type: Value.Type, _ values: EntityRowEncoder
    ) throws {
        guard let current, current.table == Value.databaseTableName,
            try key(of: type, values)?.map(\.value) == current.key
        else { return }
        for (column, value) in current.primaryKey { container[column] = value }
    }

    /// Nil if the value has the primary key, or is no row of the table.
    private static func find<Value: EntityRecord>(
        _ value: Value, _ needsKey: Bool, _ db: Database
    ) throws -> RecordRow? {
        let table = Value.databaseTableName
        // Of a view SQLite says what cannot be done.
        guard try db.tableExists(table) else { return nil }
        let primaryKey = try db.primaryKey(table).columns
        var values = EntityRowEncoder(of: Value.entityName)
        try value.encode(into: &values)
        let given = Set(try values.columns.map { $0.0.foldedForSQL })
        guard primaryKey.contains(where: { !given.contains($0.foldedForSQL) }) else { return nil }
        guard let key = try key(of: Value.self, values) else {
            guard needsKey else { return nil }
            throw SyncError(
                .keylessEntity, "its rows have no key to find them by; use SQL, or sync their owner",
                entity: Value.entityName)
        }
        // Several rows may lack a part, and none is known by it.
        guard !key.contains(where: \.value.isNull) else { return nil }
        let row = try Row.fetchOne(
            db,
            sql:
                "SELECT \(primaryKey.map(\.quoted).joined(separator: ", ")) FROM \(table.quoted) WHERE \(condition(key))",
            arguments: StatementArguments(key.map(\.value)))
        guard let row else { return nil }
        return RecordRow(
            table: table, key: key.map(\.value), primaryKey: Array(zip(primaryKey, row.databaseValues)))
    }

    /// The columns of the entity's key, with their values; nil if it has none.
    private static func key<Value: EntityRecord>(of type: Value.Type, _ values: EntityRowEncoder) throws -> [Cell]? {
        let names = Value.syncEntity.keyNames
        let cells = try values.cells.filter { names.contains($0.name) }.map { ($0.column, $0.value) }
        return cells.isEmpty || cells.count < names.count ? nil : cells
    }
}

extension SyncModel.Entity {
    /// The attributes and relationships that its key is made of, as far as it says so itself.
    fileprivate var keyNames: [String] {
        if let primaryKey { return primaryKey.parts }
        let marked = attributes.filter(\.isPrimaryKey).map(\.name)
        guard marked.isEmpty else { return marked }
        return ["remoteID", "id"].first { name in attributes.contains { $0.name == name } }.map { [$0] } ?? []
    }
}

// What GRDB calls around each write of a record, also where only `PersistableRecord` is known.
extension EntityRecord {
    /// Has GRDB find the row that a value is by the key of its entity, to update or save it. A type that implements this
    /// itself is found by the primary key of its table only.
    public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        _ = try RecordRow.during(self, db, save)
    }

    /// A new row gets its primary key from SQLite.
    public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        _ = try RecordRow.unknown(insert)
    }

    /// Has GRDB find the row that a value is by the key of its entity, to delete it.
    public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        _ = try RecordRow.during(self, needsKey: true, db, delete)
    }

    /// Whether there is a row with the key of the value.
    public func exists(_ db: Database) throws -> Bool { try RecordRow.exists(self, db) }
}

/// What refers to a row whose key has several parts, or that has none: its number in this store.
public struct RowNumber: AttributeValue, Hashable {
    /// The number.
    public let value: Int64

    /// A number.
    public init(_ value: Int64) { self.value = value }

    /// Whole numbers.
    public static var attributeType: AttributeType { .integer }

    /// The number, if it is one.
    public init?(storedValue: StoredValue) {
        guard let number = storedValue.int else { return nil }
        self.init(number)
    }

    /// The number.
    public var storedValue: StoredValue { .integer(value) }
}
