import GRDBSQLite
package import SyncCore

/// The row that a selection has reached: its values as SQLite holds them, so that nothing is copied that is not wanted.
package final class RowCursor {
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
