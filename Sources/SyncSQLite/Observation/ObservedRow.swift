import GRDB
import SyncCore
import SyncStore

/// A row, and to whom its to-one relationships lead: it is another row as well where only these are others.
struct ObservedRow: ListedRow {
    let record: SyncRecord
    let links: [DatabaseValue]

    var element: SyncRecord { record }
    var identity: ListedRowIdentity { ListedRowIdentity(record.type, rowKey: record.rowKey) }

    /// The row with this key; nil if there is none.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    static func fetch(_ entity: String, id: JSONValue, _ stack: DataStack, _ db: Database) throws -> ObservedRow? {
        let entity = try stack.model.compiled.keyedEntity(named: entity)
        guard let key = stack.model.compiled.rowKey(id, of: entity),
            let (condition, arguments) = try stack.condition(key, of: entity, in: db)
        else { return nil }
        let select = RecordSQL(entity, stack.layout)
        return try fetch(select, stack, db, "FROM \(select.from) WHERE \(condition)", arguments).first
    }

    /// - Parameter rest: What stands behind the columns in the statement.
    static func fetch(
        _ select: RecordSQL, _ stack: DataStack, _ db: Database, _ rest: String, _ arguments: StatementArguments
    ) throws -> [ObservedRow] {
        let links = stack.layout.model[select.entity.table].foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = stack.layout[id] else { return nil }
            return column
        }
        let columns = ([select.columns] + links.map(select.column)).joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db, sql: "SELECT \(columns) \(rest)", arguments: arguments)
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
        let (select, rest, arguments) = try stack.selection(
            of: stack.model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit)
        return try ObservedRow.fetch(select, stack, db, rest, arguments)
    }
}
