import GRDB
import SyncCore
import SyncStore

/// A row, and to whom its to-one relationships lead: it is another row as well where only these are others.
struct ObservedRow: Sendable, Hashable {
    let record: SyncRecord
    let links: [DatabaseValue]

    /// The row with this key; nil if there is none.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    static func fetch(_ entity: String, id: JSONValue, _ stack: DataStack, _ db: Database) throws -> ObservedRow? {
        let entity = try stack.model.compiled.keyedEntity(named: entity)
        guard let key = stack.model.compiled.rowKey(id, of: entity),
            let (condition, arguments) = stack.condition(key, of: entity)
        else { return nil }
        return try fetch(RecordSQL(entity, stack.layout), stack, db, "WHERE \(condition)", arguments).first
    }

    /// - Parameter rest: What stands behind the tables in the statement.
    static func fetch(
        _ select: RecordSQL, _ stack: DataStack, _ db: Database, _ rest: String, _ arguments: StatementArguments
    ) throws -> [ObservedRow] {
        let links = stack.layout.model[select.entity.table].foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = stack.layout[id] else { return nil }
            return column
        }
        let columns = ([select.columns] + links.map(select.column)).joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db, sql: "SELECT \(columns) FROM \(select.from) \(rest)", arguments: arguments)
        var observed: [ObservedRow] = []
        while let row = try rows.next() {
            let first = row.count - links.count
            observed.append(ObservedRow(record: try select.record(row), links: (first..<row.count).map { row[$0] }))
        }
        return observed
    }
}

/// Which rows are observed.
struct ObservedRows: Sendable {
    let entity: String
    let predicate: RecordPredicate
    let order: RecordOrder
    let limit: Int?

    func fetch(_ stack: DataStack, _ db: Database) throws -> [ObservedRow] {
        let select = RecordSQL(try stack.model.compiled.entity(named: entity), stack.layout)
        let (condition, arguments) = try stack.condition(predicate, select)
        let rest = "\(condition) ORDER BY \(try select.order(order))" + RecordSQL.window(limit, 0)
        return try ObservedRow.fetch(select, stack, db, rest, arguments)
    }
}
