import GRDB
import GRDBSQLite
package import SyncCore
import SyncStore

/// Rows of an entity and what is wanted of each, ready to be read one by one.
package struct RowSelection: Sendable {
    package struct Column: Sendable {
        /// The path, as it was asked for.
        package let name: String
        package let type: AttributeType
    }

    package let columns: [Column]
    let sql: String
    let arguments: [DatabaseValue]
}

extension DataStack {
    /// Finds the names of a query in the model.
    ///
    /// - Parameters:
    ///   - paths: What is wanted of each row, as in `["id", "user.login"]`; nil for all attributes and to-one
    ///     relationships.
    ///   - limit: How many rows there are at most; nil for all.
    ///   - offset: How many rows are passed over.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate`, or `invalidOption` for a path
    ///   that has no single value.
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
            sql: sql + RecordSQL.window(limit, offset), arguments: arguments)
    }

    /// Reads the rows of a selection one by one, in one read. Cancelling the task ends it.
    ///
    /// - Parameter body: Gets the row that was reached, which is gone when it returns. What it throws ends the reading and
    ///   passes through.
    package func forEachRow(
        of selection: RowSelection, _ body: @escaping @Sendable (RowReader) throws -> Void
    ) async throws {
        try await reading { db in
            let cursor = RowReader(try RawStatement(db, selection.sql, arguments: selection.arguments))
            while try cursor.next() { try body(cursor) }
        }
    }
}

/// The row that a selection has reached: its values as SQLite holds them, so that nothing is copied that is not wanted.
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

    /// The bytes of a text, which another program may have written without caring for UTF-8. Gone with the row.
    package func text(_ column: Int) -> UnsafeBufferPointer<UInt8> { statement.text(column) }

    /// The value as that of an attribute; nil for what is none of the type.
    package func value(_ column: Int, as type: AttributeType) -> StoredValue {
        ColumnValue.storedValue(statement.value(column), as: type)
    }
}
