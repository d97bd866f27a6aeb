import GRDB
import SyncCore

/// Reads rows of an entity as values of its type, with the rows of some of their relationships.
struct TypedRows<Value: EntityRecord>: Sendable {
    /// Values, and what they were read from, by which they are compared.
    struct Found: Sendable, Equatable {
        var values: [Value] = []
        fileprivate var cells: [DatabaseValue] = []

        static func == (left: Found, right: Found) -> Bool {
            left.values.count == right.values.count && left.cells == right.cells
        }
    }

    /// A relationship whose rows are loaded.
    private struct Loaded {
        let relationship: String
        let destination: any EntityRecord.Type
    }

    private let stack: DataStack
    private let loaded: [Loaded]

    /// - Throws: ``SyncError`` `unknownRelationship`.
    init(_ type: Value.Type, _ stack: DataStack, _ relationships: [PartialKeyPath<Value>]) throws {
        self.stack = stack
        loaded = try relationships.map { path in
            guard let property = Value.syncProperties[path],
                let destination = property.destination as? any EntityRecord.Type
            else {
                throw SyncError(
                    .unknownRelationship, "\(path) is no relationship of \(Value.entityName)", entity: Value.entityName)
            }
            return Loaded(relationship: property.name, destination: destination)
        }
    }

    func fetch(
        _ predicate: RecordPredicate, _ order: RecordOrder, _ limit: Int?, _ db: Database
    ) throws -> Found {
        let select = RecordSQL(try stack.model.compiled.entity(named: Value.entityName), stack.layout)
        let (condition, arguments) = try stack.condition(predicate, select)
        let rest = "\(condition) ORDER BY \(try select.order(order))" + RecordSQL.window(limit, 0)
        return try fetch(select, rest, arguments, db)
    }

    func fetch(id: some AttributeValue, _ db: Database) throws -> Found {
        let entity = try stack.model.compiled.keyedEntity(named: Value.entityName)
        guard let key = stack.model.compiled.rowKey(id.storedValue.jsonForm, of: entity),
            let (condition, arguments) = stack.condition(key, of: entity)
        else { return Found() }
        return try fetch(RecordSQL(entity, stack.layout), " WHERE \(condition)", arguments, db)
    }

    private func fetch(
        _ select: RecordSQL, _ rest: String, _ arguments: StatementArguments, _ db: Database
    ) throws -> Found {
        ConnectionFunctions.install(in: db)
        let columns = "\(Self.columns), \(select.rowKey) AS \"sync_row\""
        let rows = try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(select.from)\(rest)", arguments: arguments)
        var found = Found()
        found.values.reserveCapacity(rows.count)
        for row in rows {
            var value = try Value(row: row)
            found.cells += row.databaseValues
            for relationship in loaded {
                let targets = try targets(of: row["sync_row"], relationship, select.entity, db)
                found.cells += targets.flatMap(\.databaseValues)
                found.cells.append(targets.count.databaseValue)
                value.load(
                    try targets.map { try relationship.destination.init(row: $0) }, of: relationship.relationship)
            }
            found.values.append(value)
        }
        return found
    }

    private static var columns: String { "\(SchemaSQL.quoted(RecordSQL.alias)).*" }

    /// The rows that a relationship leads to.
    private func targets(
        of row: DatabaseValue, _ loaded: Loaded, _ entity: CompiledEntity, _ db: Database
    ) throws -> [Row] {
        guard let relationship = entity.relationship(named: loaded.relationship) else {
            throw StoreFailure.unknownRelationship(loaded.relationship, of: entity)
        }
        let targets = TargetSQL(relationship, of: entity, stack.layout)
        let statement = try db.cachedStatement(sql: "SELECT \(Self.columns) \(try targets.rest)")
        return try Row.fetchAll(statement, arguments: [row])
    }
}
