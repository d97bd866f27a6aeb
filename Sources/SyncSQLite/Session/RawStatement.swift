import Foundation
package import GRDB
import GRDBSQLite
package import SyncCore
import SyncStore

/// A prepared statement that is bound and stepped with the C functions of SQLite, for loops over many rows.
///
/// GRDB owns the statement and its transaction. This type avoids the `DatabaseValue` that GRDB creates for each value.
final class RawStatement {
    private let statement: Statement
    private let handle: OpaquePointer
    /// A buffer of 24 bytes per parameter, for the text of bound dates.
    private let dates: UnsafeMutablePointer<UInt8>

    convenience init(_ db: Database, _ sql: String, arguments: [DatabaseValue] = []) throws {
        try self.init(db.makeStatement(sql: sql))
        if !arguments.isEmpty { try statement.setArguments(StatementArguments(arguments)) }
    }

    /// Creates a statement that the connection compiles once and keeps.
    ///
    /// Two such statements with the same SQL share their bindings and their current row, so use only one at a time.
    convenience init(cachedIn db: Database, _ sql: String) throws {
        try self.init(db.cachedStatement(sql: sql))
        sqlite3_reset(handle)
    }

    private init(_ statement: Statement) {
        self.statement = statement
        handle = statement.sqliteStatement
        dates = .allocate(capacity: 24 * (Int(sqlite3_bind_parameter_count(handle)) + 1))
    }

    deinit {
        // The connection may keep the statement, but the bound texts are not copied.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        dates.deallocate()
    }

    // MARK: Binding

    /// Binds a packed value. Texts and blobs are not copied, so their bytes must stay valid until the statement is
    /// reset.
    @inline(__always)
    func bind(_ slot: PackedValue, at parameter: Int, _ pool: TextPool) {
        let index = Int32(truncatingIfNeeded: parameter)
        switch slot.kind {
        case .absent, .null: sqlite3_bind_null(handle, index)
        case .integer: sqlite3_bind_int64(handle, index, slot.integer)
        case .real: sqlite3_bind_double(handle, index, slot.real)
        case .payloadText, .arenaText:
            let bytes = pool.bytes(slot)
            bytes.withMemoryRebound(to: CChar.self) { text in
                _ = sqlite3_bind_text(handle, index, text.baseAddress, Int32(truncatingIfNeeded: text.count), nil)
            }
        case .date:
            let position = dates + 24 * parameter
            DateText.write(slot.integer, to: position)
            position.withMemoryRebound(to: CChar.self, capacity: 24) { text in
                _ = sqlite3_bind_text(handle, index, text, 23, nil)
            }
        case .arenaBlob:
            let bytes = pool.bytes(slot)
            sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), nil)
        }
    }

    func bind(_ value: Int64, at parameter: Int) {
        sqlite3_bind_int64(handle, Int32(truncatingIfNeeded: parameter), value)
    }

    func bindNull(at parameter: Int) { sqlite3_bind_null(handle, Int32(truncatingIfNeeded: parameter)) }

    func bind(_ key: RowKey, at parameter: Int) {
        let index = Int32(truncatingIfNeeded: parameter)
        switch key {
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .real(let value): sqlite3_bind_double(handle, index, value)
        case .text(let text): Self.bind(text, to: handle, at: index)
        }
    }

    /// Binds a value. Texts and blobs are copied.
    func bind(_ value: DatabaseValue, at parameter: Int) { Self.bind(value, to: handle, at: parameter) }

    /// Binds a value to a parameter of a statement. Text is complete even if it contains a NUL.
    static func bind(_ value: DatabaseValue, to handle: OpaquePointer, at parameter: Int) {
        let index = Int32(truncatingIfNeeded: parameter)
        guard case .string(let text) = value.storage else {
            _ = value.bind(to: handle, at: index)
            return
        }
        bind(text, to: handle, at: index)
    }

    private static func bind(_ text: String, to handle: OpaquePointer, at index: Int32) {
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        _ = text.withCString {
            sqlite3_bind_text(handle, index, $0, Int32(truncatingIfNeeded: text.utf8.count), copy)
        }
    }

    func bind(copying blob: [UInt8], at parameter: Int) {
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_blob(
            handle, Int32(truncatingIfNeeded: parameter), blob, Int32(truncatingIfNeeded: blob.count), copy)
    }

    // MARK: Stepping

    /// Steps once. Returns true if there is a row.
    @inline(__always)
    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    @inline(__always)
    func reset() { sqlite3_reset(handle) }

    /// Steps a statement that returns no rows, and resets it.
    @inline(__always)
    func execute() throws {
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            let error = failure(code)
            sqlite3_reset(handle)
            throw error
        }
        sqlite3_reset(handle)
    }

    /// Whether the last write of the connection inserted, updated or deleted no row. Rows that triggers write do not
    /// count.
    @inline(__always)
    var hasWrittenNothing: Bool { sqlite3_changes(sqlite3_db_handle(handle)) == 0 }

    private func failure(_ code: Int32) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT { return CancellationError() }
        let message = sqlite3_db_handle(handle).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
    }

    // MARK: Reading

    /// The tables and columns that the statement reads. GRDB does not record them for an observation, because it does
    /// not run the statement.
    var region: DatabaseRegion { statement.databaseRegion }

    /// The columns of the current row.
    var columns: StatementColumns { StatementColumns(statement) }

    @inline(__always)
    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_NULL }

    @inline(__always)
    func type(_ column: Int) -> Int32 { sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) }

    @inline(__always)
    func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column)) }

    @inline(__always)
    func real(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(truncatingIfNeeded: column)) }

    /// Returns the bytes of a text, valid until the next step or reset.
    @inline(__always)
    func text(_ column: Int) -> UnsafeBufferPointer<UInt8> {
        let index = Int32(truncatingIfNeeded: column)
        let text = sqlite3_column_text(handle, index)
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, index)))
    }

    func string(_ column: Int) -> String { String(decoding: text(column), as: UTF8.self) }

    /// Returns the value of a column. Text is complete even if it contains a NUL.
    func value(_ column: Int) -> DatabaseValue {
        let index = Int32(truncatingIfNeeded: column)
        guard sqlite3_column_type(handle, index) == SQLITE_TEXT else {
            return DatabaseValue(sqliteStatement: handle, index: index)
        }
        return string(column).databaseValue
    }

    func key(_ column: Int) -> RowKey? {
        switch sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(string(column))
        default: nil
        }
    }

    /// Returns whether a column stores a key of this type, so that SQLite reads the key without a conversion that loses
    /// something.
    @inline(__always)
    func hasKey(_ column: Int, of type: AttributeType) -> Bool {
        let stored = self.type(column)
        switch type {
        case .integer, .boolean:
            return stored == SQLITE_INTEGER || stored == SQLITE_FLOAT && real(column) == Double(integer(column))
        case .double: return stored == SQLITE_FLOAT || stored == SQLITE_INTEGER
        default: return stored == SQLITE_TEXT
        }
    }

    /// Returns whether a column contains the stored form of a packed value; true for an absent value.
    @inline(__always)
    func column(_ column: Int, equals slot: PackedValue, _ pool: TextPool) -> Bool {
        // The value is read once, because each `sqlite3_column_…` function looks up the column again.
        let value = sqlite3_column_value(handle, Int32(truncatingIfNeeded: column))
        let type = sqlite3_value_type(value)
        switch slot.kind {
        case .absent: return true
        case .null: return type == SQLITE_NULL
        case .integer: return type == SQLITE_INTEGER && sqlite3_value_int64(value) == slot.integer
        case .real: return type == SQLITE_FLOAT && sqlite3_value_double(value) == slot.real
        case .payloadText, .arenaText:
            return type == SQLITE_TEXT && TextPool.equal(text(value), pool.bytes(slot))
        case .date:
            guard type == SQLITE_TEXT else { return false }
            DateText.write(slot.integer, to: dates)
            return TextPool.equal(text(value), UnsafeBufferPointer(start: dates, count: 23))
        case .arenaBlob:
            guard type == SQLITE_BLOB else { return false }
            let stored = UnsafeRawBufferPointer(
                start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
            return stored.elementsEqual(pool.bytes(slot))
        }
    }

    @inline(__always)
    private func text(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
        let text = sqlite3_value_text(value)
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
    }
}

extension RawStatement: StoredRowReader, ParameterBinder {}

/// The number of rows of a table, compared with a limit.
enum TableSize {
    case empty
    /// At most the limit. A scan of the table then costs less than lookups.
    case small
    case large

    /// - Parameter table: The table's name, quoted.
    init(of table: String, limit: Int, in db: Database) throws {
        if try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(table))") ?? true {
            self = .empty
        } else {
            // `OFFSET` takes half the time of `count(*)`.
            let isLarge = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) LIMIT 1 OFFSET ?)", arguments: [limit])
            self = isLarge ?? false ? .large : .small
        }
    }
}

// MARK: - RowKey+Database

extension RowKey {
    package var databaseValue: DatabaseValue {
        switch self {
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let text): text.databaseValue
        }
    }

    package init?(_ value: DatabaseValue) {
        switch value.storage {
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .string(let text): self = .text(text)
        case .null, .blob: return nil
        }
    }
}

extension TemporaryKey {
    /// Returns whether the value of a key column is a temporary key. The key attribute of such a row is nil.
    static func isLocal(_ value: DatabaseValue) -> Bool { RowKey(value)?.isLocal ?? false }
}
