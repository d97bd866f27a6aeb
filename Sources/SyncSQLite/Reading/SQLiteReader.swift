import GRDB
import GRDBSQLite
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
            of: query.entity, where: query.predicate, orderedBy: query.order, limit: query.limit, offset: query.offset,
            in: db)
        SQLFunctionInstaller.install(in: db)
        return try SQLiteRowCursor(select, db.makeStatement(sql: "SELECT \(select.columns) \(rest)"), arguments)
    }

    package func count(of entity: CompiledEntity, where predicate: RowPredicate) throws -> Int {
        let select = RecordSQL(entity, layout)
        let (condition, arguments) = try stack.condition(predicate, select, in: db)
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
        try db.forEachSelection(sql.beforeKeys, rows, end: sql.afterKeys) { columns in
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

// MARK: - Selected columns

/// A statement that reads columns of the rows of an entity, one row at a time.
package struct RowSelection: Sendable {
    package struct Column: Sendable {
        /// The path whose values the column contains, such as `user.login`.
        package let name: String
        package let type: AttributeType
    }

    package let columns: [Column]
    let sql: String
    let arguments: [DatabaseValue]
}

extension DataStack {
    /// Creates a selection of the rows of an entity.
    ///
    /// - Parameters:
    ///   - paths: The paths to read, for example `["id", "user.login"]`; nil for all attributes and to-one
    ///     relationships.
    ///   - limit: The maximum number of rows to read; nil for all.
    ///   - offset: The number of rows to skip.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute` or `invalidPredicate`. `invalidOption` for a path
    ///   that leads to several values.
    package func selection(
        of entity: String, columns paths: [String]? = nil, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0
    ) throws -> RowSelection {
        let select = RecordSQL(try model.compiled.entity(named: entity), layout)
        let paths =
            try paths?.map { try RowPath($0, on: select.entity, in: model.compiled) }
            ?? RowPath.all(of: select.entity, in: model.compiled)
        let (condition, arguments) = try conditionValues(predicate, select)
        let values = paths.map { select.sql($0).value }.joined(separator: ", ")
        let sql = "SELECT \(values) FROM \(select.from)\(condition) ORDER BY \(try select.order(order))"
        return RowSelection(
            columns: paths.map { .init(name: $0.name, type: $0.type(from: select.entity, in: model.compiled)) },
            sql: sql + select.window(limit, offset), arguments: arguments)
    }

    /// Reads the rows of a selection one at a time, in one read transaction. Cancelling the task ends the read.
    ///
    /// - Parameter body: A function that receives each row. The row is valid only during the call. If the function
    ///   throws, the read ends and throws the error.
    package func forEachRow(
        of selection: RowSelection, _ body: @escaping @Sendable (RowReader) throws -> Void
    ) async throws {
        try await reading { db in
            let cursor = RowReader(try RawStatement(db, selection.sql, arguments: selection.arguments))
            while try cursor.next() { try body(cursor) }
        }
    }
}

/// The current row of a selection. A value is copied only when it is read.
package final class RowReader {
    package enum Storage { case null, integer, real, text, blob }

    private let statement: RawStatement

    init(_ statement: RawStatement) { self.statement = statement }

    func next() throws -> Bool { try statement.step() }

    package func storage(_ column: Int) -> Storage {
        switch statement.type(column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    package func integer(_ column: Int) -> Int64 { statement.integer(column) }

    package func real(_ column: Int) -> Double { statement.real(column) }

    /// Returns the bytes of a text value. The buffer is valid until the next row is read. A value that another program
    /// wrote may not be valid UTF-8.
    package func text(_ column: Int) -> UnsafeBufferPointer<UInt8> { statement.text(column) }

    /// Returns the value of a column as a value of an attribute type; null if the value cannot be converted.
    package func value(_ column: Int, as type: AttributeType) -> StoredValue {
        ColumnValue.storedValue(statement.value(column), as: type)
    }
}
