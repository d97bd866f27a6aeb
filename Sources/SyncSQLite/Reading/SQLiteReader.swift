import GRDB
package import SyncCore
package import SyncStore

/// The `StoreReader` for SQLite: reads on one connection, inside one transaction.
package final class SQLiteReader {
    private let db: Database
    private let layout: StoreLayout
    private let stack: DataStack
    private var statements: [RelationshipEnd: RelatedRowsSQL] = [:]

    init(_ db: Database, _ stack: DataStack) {
        self.db = db
        self.stack = stack
        layout = stack.layout
    }

    private func statement(
        _ relationship: CompiledRelationship, _ owner: CompiledEntity
    ) throws -> RelatedRowsSQL {
        let end = RelationshipEnd(relationship)
        if let known = statements[end] { return known }
        let made = try RelatedRowsSQL(relationship, of: owner, layout)
        statements[end] = made
        return made
    }
}

extension SQLiteReader: StoreReader {
    package func select(_ query: RowQuery) throws -> any StoreRowCursor {
        let (select, rest, arguments) = try stack.selection(
            of: query.entity, where: query.predicate, orderedBy: query.order, limit: query.limit, offset: query.offset)
        SQLFunctionInstaller.install(in: db)
        return try SQLiteRowCursor(select, db.makeStatement(sql: "SELECT \(select.columns) \(rest)"), arguments)
    }

    package func count(of entity: CompiledEntity, where predicate: RowPredicate) throws -> Int {
        let select = RecordSQL(entity, layout)
        let (condition, arguments) = try stack.condition(predicate, select)
        SQLFunctionInstaller.install(in: db)
        return try Int.fetchOne(
            db, sql: "SELECT count(*) FROM \(select.from)\(condition)", arguments: arguments) ?? 0
    }

    package func row(withKey key: RowKey, of entity: CompiledEntity) throws -> SyncRow? {
        try stack.fetch(entity, key: key, in: db)
    }

    package func rows(relatedTo rows: [RowKey], by relationship: CompiledRelationship, of owner: CompiledEntity) throws
        -> LinkedRows
    {
        let sql = try statement(relationship, owner)
        let positions = Dictionary(zip(rows, rows.indices), uniquingKeysWith: { first, _ in first })
        var related = LinkedRows()
        var known: [RowKey: Int] = [:]
        try db.forEachSelection(sql.beforeKeys, rows.map(\.databaseValue), end: sql.afterKeys) { columns in
            guard let key = RowKey(columns.wholeValue(at: columns.count - 1)), let position = positions[key] else {
                return
            }
            if sql.sharesRows, let row = RowKey(columns.wholeValue(at: 0)) {
                if let index = known[row] { return related.links.append((position, index)) }
                known[row] = related.rows.count
            }
            related.links.append((position, related.rows.count))
            related.rows.append(try sql.select.record(columns))
        }
        return related
    }

    package func hasPendingReferences() throws -> Bool { try db.hasPendingReferences() }

    package func pendingRelationships(of rows: [RowKey], in table: TableID) throws -> Set<PendingRelationship> {
        var found: Set<PendingRelationship> = []
        let select = """
            SELECT owner_key, owner_entity, relationship FROM sync_pending
            WHERE owner_entity IN (\(layout.entityNames(of: [table]))) AND owner_key IN\u{20}
            """
        try db.forEachRow(select, rows.map(\.databaseValue)) { row in
            guard let owner = RowKey(row[0]) else { return }
            found.insert(
                PendingRelationship(
                    owner: owner, entity: try row.decode(atIndex: 1), relationship: try row.decode(atIndex: 2)))
        }
        return found
    }
}

/// The rows that a statement selects.
final class SQLiteRowCursor: StoreRowCursor {
    private let select: RecordSQL
    private let rows: RowCursor
    private let columns: StatementColumns

    /// - Parameter statement: A statement that selects ``RecordSQL/columns``. No other cursor uses it.
    init(_ select: RecordSQL, _ statement: Statement, _ arguments: StatementArguments) throws {
        self.select = select
        rows = try Row.fetchCursor(statement, arguments: arguments)
        columns = StatementColumns(statement)
    }

    func next(_ count: Int) throws -> [SyncRow] {
        var records: [SyncRow] = []
        while records.count < count, try rows.next() != nil { records.append(try select.record(columns)) }
        return records
    }
}

/// The statement that selects the related rows of several rows. Its last column is the key of the row that a selected
/// row is related to.
private struct RelatedRowsSQL {
    let select: RecordSQL
    /// Whether several rows can be related to the same row.
    let sharesRows: Bool
    /// The statement before the keys of the rows.
    let beforeKeys: String
    /// The statement after the keys.
    let afterKeys: String

    init(_ relationship: CompiledRelationship, of owner: CompiledEntity, _ layout: StoreLayout) throws {
        let target = TargetSQL(relationship, of: owner, layout)
        select = target.select
        sharesRows = layout.model[relationship.link].side(relationship.end.other).isToMany
        let rest = try target.restOfSeveral
        (beforeKeys, afterKeys) = ("SELECT \(select.columns), \(target.ownerKey) \(rest.before)", rest.after)
    }
}
