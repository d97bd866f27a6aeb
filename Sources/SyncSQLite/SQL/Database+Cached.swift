import GRDB
import SyncCore

/// Methods that compile a statement once per connection and then reuse it.
///
/// GRDB ends text at the first NUL. These methods bind complete text, except as a named parameter, and read complete
/// text, except as a `String`.
extension Database {
    typealias Value = any DatabaseValueConvertible

    func run(_ sql: String, _ values: Value?...) throws { try boundStatement(sql, values).execute() }

    func run(_ sql: String, list values: [DatabaseValue]) throws { try boundStatement(sql, values).execute() }

    func run(_ sql: String, _ values: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: values)
    }

    func rows(_ sql: String, _ values: Value?...) throws -> [ResultRow] {
        try ResultRow.all(boundStatement(sql, values))
    }

    func rows(_ sql: String, list values: [DatabaseValue]) throws -> [ResultRow] {
        try ResultRow.all(boundStatement(sql, values))
    }

    func rows(_ sql: String, _ values: StatementArguments) throws -> [ResultRow] {
        try ResultRow.all(cachedStatement(sql: sql), values)
    }

    func row(_ sql: String, _ values: Value?...) throws -> ResultRow? {
        try ResultRow.first(boundStatement(sql, values))
    }

    func row(_ sql: String, _ values: StatementArguments) throws -> ResultRow? {
        try ResultRow.first(cachedStatement(sql: sql), values)
    }

    /// Returns the first column of the first row.
    func first<T: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: T.Type, _ sql: String, _ values: Value?...
    ) throws -> T? { try T.fetchOne(boundStatement(sql, values)) }

    /// Returns the first column of all rows.
    func all<T: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: T.Type, _ sql: String, _ values: Value?...
    ) throws -> [T] { try T.fetchAll(boundStatement(sql, values)) }

    /// Returns the first column of the first row, without conversion.
    func value(_ sql: String, _ values: Value?...) throws -> DatabaseValue? {
        try ResultRow.first(boundStatement(sql, values))?[0]
    }

    func value(_ sql: String, _ values: StatementArguments) throws -> DatabaseValue? { try row(sql, values)?[0] }

    /// Returns the first column of all rows, without conversion.
    func values(_ sql: String, _ values: Value?...) throws -> [DatabaseValue] {
        try ResultRow.all(boundStatement(sql, values)).map { $0[0] }
    }

    func values(_ sql: String, _ values: StatementArguments) throws -> [DatabaseValue] {
        try rows(sql, values).map { $0[0] }
    }

    /// Returns whether a query returns a row.
    func finds(_ sql: String, _ values: Value?...) throws -> Bool {
        try Bool.fetchOne(boundStatement("SELECT EXISTS (\(sql))", values)) ?? false
    }

    func finds(_ sql: String, list values: [DatabaseValue]) throws -> Bool {
        try Bool.fetchOne(boundStatement("SELECT EXISTS (\(sql))", values)) ?? false
    }

    private func boundStatement(_ sql: String, _ values: [Value?]) throws -> Statement {
        try boundStatement(sql, values.map { $0?.databaseValue ?? .null })
    }

    /// Returns a statement with values bound to its parameters, in their order.
    private func boundStatement(_ sql: String, _ values: [DatabaseValue]) throws -> Statement {
        let statement = try cachedStatement(sql: sql)
        try statement.setArguments(StatementArguments(values))
        for (index, value) in values.enumerated() where value.hasNUL {
            RawStatement.bind(value, to: statement.sqliteStatement, at: index + 1)
        }
        return statement
    }
}

/// A row of a query, with the complete text of each column.
struct ResultRow: SelectedColumns {
    private let values: [DatabaseValue]

    private init(_ columns: StatementColumns) { values = (0..<columns.count).map { columns.wholeValue(at: $0) } }

    subscript(index: Int) -> DatabaseValue { values[index] }

    func wholeValue(at index: Int) -> DatabaseValue { values[index] }

    /// Returns the rows of a query. `arguments`: nil if they are bound.
    static func all(_ statement: Statement, _ arguments: StatementArguments? = nil) throws -> [ResultRow] {
        var rows: [ResultRow] = []
        try forEach(of: statement, arguments) { rows.append($0) }
        return rows
    }

    /// Returns the first row of a query. `arguments`: nil if they are bound.
    static func first(_ statement: Statement, _ arguments: StatementArguments? = nil) throws -> ResultRow? {
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        // The cursor resets the statement when it is released.
        defer { withExtendedLifetime(cursor) {} }
        guard try cursor.next() != nil else { return nil }
        return ResultRow(StatementColumns(statement))
    }

    /// Calls `body` with each row of a query. `arguments`: nil if they are bound.
    static func forEach(
        of statement: Statement, _ arguments: StatementArguments?, _ body: (ResultRow) throws -> Void
    ) throws {
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        let columns = StatementColumns(statement)
        while try cursor.next() != nil { try body(ResultRow(columns)) }
    }
}

/// Methods that read and write many rows by few statements.
extension Database {
    /// Calls `body` with each row that a query returns. `select` is the query up to the list of keys, and `end` the rest
    /// of it. `head` has the arguments before the keys.
    func forEachRow(
        _ select: String, head: StatementArguments = [], _ keys: [DatabaseValue], end: String = "",
        _ body: (ResultRow) throws -> Void
    ) throws {
        for list in KeyList.lists(of: keys) {
            let statement = try cachedStatement(sql: "\(select)(\(list.placeholders))\(end)")
            try ResultRow.forEach(of: statement, head + list.arguments, body)
        }
    }

    /// Calls `body` with the columns of each row that a query returns. `select` is the query up to the list of keys, and
    /// `end` the rest of it. `body` must not run the same query. The keys are bound without GRDB, whose arguments cost
    /// more than the lookup of a key.
    func forEachSelection(
        _ select: String, _ keys: [RowKey], end: String, _ body: (StatementColumns) throws -> Void
    ) throws {
        for range in KeyList.ranges(of: keys.count) {
            let size = KeyList.size(for: range.count)
            let statement = try RawStatement(cachedIn: self, "\(select)(\(KeyList.placeholders(size)))\(end)")
            for offset in 0..<size {
                statement.bind(keys[min(range.lowerBound + offset, range.upperBound - 1)], at: offset + 1)
            }
            try registerAccess(to: statement.region)
            let columns = statement.columns
            while try statement.step() { try body(columns) }
        }
    }

    /// Calls `body` with the entries of rows, and possibly with those of rows with keys in between. `select` is a query
    /// that ends before the condition for the column `k`.
    func forEachEntry(_ select: String, _ keys: [DatabaseValue], _ body: (ResultRow) throws -> Void) throws {
        guard let range = KeyList.denseRange(of: keys) else { return try forEachRow("\(select)k IN ", keys, body) }
        let statement = try cachedStatement(sql: "\(select)k BETWEEN ? AND ?")
        try ResultRow.forEach(of: statement, [range.lowerBound, range.upperBound], body)
    }

    /// Runs a statement that ends before a list of keys.
    func run(_ start: String, keys: [DatabaseValue]) throws {
        for list in KeyList.lists(of: keys) { try run("\(start)(\(list.placeholders))", list.arguments) }
    }

    /// Inserts rows. `start` and `end` are the SQL before and after the rows, `row` is the SQL of one row, with a
    /// parameter for each of its values.
    func insert<Entry>(
        _ entries: [Entry], _ start: String, row: String, _ end: String, _ values: (Entry) -> [DatabaseValue]
    ) throws {
        var rest = entries[...]
        while !rest.isEmpty {
            // After the full statements, the number of rows is a power of two, so that few statements are compiled.
            var size = 100
            if size > rest.count { size = 64 }
            while size > rest.count { size /= 2 }
            let rows = row + String(repeating: ", \(row)", count: size - 1)
            let statement = try RawStatement(cachedIn: self, start + rows + end)
            var parameter = 0
            for entry in rest.prefix(size) {
                for value in values(entry) {
                    parameter += 1
                    statement.bind(value, at: parameter)
                }
            }
            try statement.execute()
            rest = rest.dropFirst(size)
        }
    }
}

/// Keys for a condition `IN (…)` of one statement.
struct KeyList {
    let arguments: StatementArguments
    let placeholders: String

    private static let largest = 256

    /// Returns the range of integer keys of which most numbers are keys; nil for other keys. A scan of such a range
    /// costs less than a lookup of each key.
    static func denseRange(of keys: [DatabaseValue]) -> ClosedRange<Int64>? {
        guard keys.count > 1 else { return nil }
        var (least, largest) = (Int64.max, Int64.min)
        for key in keys {
            guard case .int64(let number) = key.storage else { return nil }
            (least, largest) = (min(least, number), max(largest, number))
        }
        let (span, overflows) = largest.subtractingReportingOverflow(least)
        return overflows || span >= keys.count + keys.count / 2 ? nil : least...largest
    }

    /// Returns lists of the keys. The last key fills up a list. The placeholder of text with a NUL is an expression,
    /// because GRDB binds text only up to the first NUL.
    static func lists(of keys: [DatabaseValue]) -> [KeyList] {
        ranges(of: keys.count).map { range in
            var part = Array(keys[range])
            let size = size(for: part.count)
            part += repeatElement(part[part.count - 1], count: size - part.count)
            guard part.contains(where: \.hasNUL) else {
                return KeyList(arguments: StatementArguments(part), placeholders: placeholders(size))
            }
            let bound = part.map(ColumnValue.bound)
            return KeyList(
                arguments: StatementArguments(bound.map(\.value)),
                placeholders: bound.map(\.sql).joined(separator: ", "))
        }
    }

    /// Returns the ranges of the keys of each list.
    static func ranges(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: largest).map { $0..<min($0 + largest, count) }
    }

    /// Returns the number of placeholders for a number of keys: a power of two, so that few statements are compiled.
    static func size(for count: Int) -> Int {
        var size = 1
        while size < count { size *= 2 }
        return size
    }

    static func placeholders(_ size: Int) -> String { "?" + String(repeating: ", ?", count: size - 1) }
}

extension DatabaseValue {
    /// Whether the value is a text that contains U+0000.
    var hasNUL: Bool {
        guard case .string(let text) = storage else { return false }
        return text.utf8.contains(0)
    }
}
