import Foundation
import GRDB
import GRDBSQLite
import SyncCore
import SyncStore

// Reads rows, and decodes them as ``SyncRow`` values.
extension RecordSQL {
    func fetch(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws -> [SyncRow] {
        SQLFunctionInstaller.install(in: db)
        let statement = try db.makeStatement(sql: sql)
        try statement.setArguments(arguments)
        return try records(statement)
    }

    /// Returns the row with a row key; nil if it is not stored.
    func fetch(_ db: Database, rowKey: DatabaseValue) throws -> SyncRow? {
        let statement = try db.makeStatement(sql: "SELECT \(columns) FROM \(from) WHERE \(self.rowKey) = ?")
        try statement.setArguments([rowKey])
        // GRDB ends a text at the first NUL.
        if rowKey.hasNUL { RawStatement.bind(rowKey, to: statement.sqliteStatement, at: 1) }
        return try records(statement).first
    }

    private func records(_ statement: Statement) throws -> [SyncRow] {
        let rows = try Row.fetchCursor(statement)
        let columns = StatementColumns(statement)
        var records: [SyncRow] = []
        while try rows.next() != nil { records.append(try record(columns)) }
        return records
    }

    /// Returns the current row of a statement that selects ``columns``.
    func record(_ columns: StatementColumns) throws -> SyncRow {
        let rowKey = columns.wholeValue(at: 0)
        let type = table.hasEntityColumn ? try specificEntity(columns.wholeValue(at: 1)) : entity
        let offset = table.hasEntityColumn ? 2 : 1
        var values = [StoredValue](repeating: .null, count: hierarchy.attributes.count)
        for slot in type.slots {
            values[slot] = columns.storedValue(
                at: slot + offset, as: hierarchy.attributes[slot].type, isKey: slot == type.keySlot)
        }
        var key = ColumnValue.recordKey(rowKey, as: hierarchy.keySlot.map { hierarchy.attributes[$0].type } ?? .integer)
        if table.hasSurrogateKey, let slot = type.keySlot {
            let value = columns.wholeValue(at: slot + offset)
            key = ColumnValue.recordKey(value, as: hierarchy.attributes[slot].type) ?? key
        }
        if let position = type.keyOwner.flatMap({ compositeKeys[$0] }),
            let composite = try position.key.recordKey(columns, at: position.first)
        {
            key = composite
        }
        guard let key, let storedKey = RowKey(rowKey) else {
            throw SyncError(.databaseError, "a row has no key", entity: type.name)
        }
        return SyncRow(type: type, key: key, rowKey: storedKey, values: values)
    }

    private func specificEntity(_ value: DatabaseValue) throws -> CompiledEntity {
        guard let name = String.fromDatabaseValue(value), let id = layout.model.entityID(name),
            layout.model.entities[id].table == hierarchy.id
        else {
            throw SyncError(
                .databaseError, "a row of the table '\(table.name)' is of an entity that is not in the model",
                entity: entity.name)
        }
        return layout.model.entities[id]
    }
}

// MARK: - SelectedColumns

/// The columns of a selected row.
protocol SelectedColumns {
    /// Returns the value of a column. Text is complete even if it contains a NUL.
    func wholeValue(at index: Int) throws -> DatabaseValue
}

extension Row: SelectedColumns {}

/// The columns of the current row of a statement that a cursor of GRDB steps.
///
/// They are read with the C functions of SQLite. The generic functions of `Row` that return complete text cost more
/// than the rest of the row.
struct StatementColumns: SelectedColumns {
    let count: Int
    private let handle: OpaquePointer

    /// Creates the columns of a statement. Read them only while the cursor of the statement is at a row.
    init(_ statement: Statement) {
        handle = statement.sqliteStatement
        count = statement.columnCount
    }

    func wholeValue(at index: Int) -> DatabaseValue {
        let column = Int32(truncatingIfNeeded: index)
        return switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: sqlite3_column_int64(handle, column).databaseValue
        case SQLITE_TEXT: String(decoding: text(at: column), as: UTF8.self).databaseValue
        default: DatabaseValue(sqliteStatement: handle, index: column)
        }
    }

    /// Returns the value of an attribute, as ``ColumnValue/storedValue(_:as:isKey:)`` converts it.
    func storedValue(at index: Int, as type: AttributeType, isKey: Bool) -> StoredValue {
        let column = Int32(truncatingIfNeeded: index)
        // A date is parsed without a copy of its text.
        guard type == .date, !isKey, sqlite3_column_type(handle, column) == SQLITE_TEXT else {
            return ColumnValue.storedValue(wholeValue(at: index), as: type, isKey: isKey)
        }
        return DateParser.milliseconds(text(at: column)).map { .date(Date(milliseconds: $0)) } ?? .null
    }

    /// Returns the bytes of a text, which are valid until the next row.
    private func text(at column: Int32) -> UnsafeBufferPointer<UInt8> {
        let text = sqlite3_column_text(handle, column)
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
    }
}
