import GRDB
import GRDBSQLite
package import SyncCore
import SyncStore

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
            sql: sql + RecordSQL.window(limit, offset), arguments: arguments)
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
