import GRDB

/// Methods that compile a statement once per connection and then reuse it.
extension Database {
    typealias Value = any DatabaseValueConvertible

    func run(_ sql: String, _ values: Value?...) throws { try run(sql, StatementArguments(values)) }

    func run(_ sql: String, _ values: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: values)
    }

    func rows(_ sql: String, _ values: Value?...) throws -> [Row] { try rows(sql, StatementArguments(values)) }

    func rows(_ sql: String, _ values: StatementArguments) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: values)
    }

    func row(_ sql: String, _ values: Value?...) throws -> Row? { try row(sql, StatementArguments(values)) }

    func row(_ sql: String, _ values: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: values)
    }

    /// Returns the first column of the first row.
    func first<T: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: T.Type, _ sql: String, _ values: Value?...
    ) throws -> T? { try T.fetchOne(cachedStatement(sql: sql), arguments: StatementArguments(values)) }

    /// Returns the first column of all rows.
    func all<T: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: T.Type, _ sql: String, _ values: Value?...
    ) throws -> [T] { try T.fetchAll(cachedStatement(sql: sql), arguments: StatementArguments(values)) }

    /// Returns the first column of the first row, without conversion.
    func value(_ sql: String, _ values: Value?...) throws -> DatabaseValue? {
        try value(sql, StatementArguments(values))
    }

    func value(_ sql: String, _ values: StatementArguments) throws -> DatabaseValue? {
        try DatabaseValue.fetchOne(cachedStatement(sql: sql), arguments: values)
    }

    /// Returns the first column of all rows, without conversion.
    func values(_ sql: String, _ values: Value?...) throws -> [DatabaseValue] {
        try self.values(sql, StatementArguments(values))
    }

    func values(_ sql: String, _ values: StatementArguments) throws -> [DatabaseValue] {
        try DatabaseValue.fetchAll(cachedStatement(sql: sql), arguments: values)
    }

    /// Returns whether a query returns a row.
    func finds(_ sql: String, _ values: Value?...) throws -> Bool { try finds(sql, StatementArguments(values)) }

    func finds(_ sql: String, _ values: StatementArguments) throws -> Bool {
        try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (\(sql))"), arguments: values) ?? false
    }
}

/// Methods that read and write many rows by few statements.
extension Database {
    /// Calls `body` with each row that a query returns. `select` is the query up to the list of keys, and `end` the rest
    /// of it. `head` has the arguments before the keys.
    func forEachRow(
        _ select: String, head: StatementArguments = [], _ keys: [DatabaseValue], end: String = "",
        _ body: (Row) throws -> Void
    ) throws {
        for list in KeyList.lists(of: keys) {
            let rows = try Row.fetchCursor(
                cachedStatement(sql: "\(select)(\(list.placeholders))\(end)"), arguments: head + list.arguments)
            while let row = try rows.next() { try body(row) }
        }
    }

    /// Calls `body` with the columns of each row that a query returns. `select` is the query up to the list of keys, and
    /// `end` the rest of it.
    func forEachSelection(
        _ select: String, _ keys: [DatabaseValue], end: String = "", _ body: (StatementColumns) throws -> Void
    ) throws {
        for list in KeyList.lists(of: keys) {
            let statement = try cachedStatement(sql: "\(select)(\(list.placeholders))\(end)")
            let rows = try Row.fetchCursor(statement, arguments: list.arguments)
            let columns = StatementColumns(statement)
            while try rows.next() != nil { try body(columns) }
        }
    }

    /// Calls `body` with the entries of rows, and possibly with those of rows with keys in between. `select` is a query
    /// that ends before the condition for the column `k`.
    func forEachEntry(_ select: String, _ keys: [DatabaseValue], _ body: (Row) throws -> Void) throws {
        guard let range = KeyList.denseRange(of: keys) else { return try forEachRow("\(select)k IN ", keys, body) }
        let rows = try Row.fetchCursor(
            cachedStatement(sql: "\(select)k BETWEEN ? AND ?"), arguments: [range.lowerBound, range.upperBound])
        while let row = try rows.next() { try body(row) }
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

    /// Returns lists of the keys. The number of placeholders in a list is a power of two, so that few statements are
    /// compiled. The last key fills up the list. The placeholder of text with a NUL is an expression, because GRDB
    /// binds text only up to the first NUL.
    static func lists(of keys: [DatabaseValue]) -> [KeyList] {
        stride(from: 0, to: keys.count, by: largest).map { start in
            var part = Array(keys[start..<min(start + largest, keys.count)])
            var size = 1
            while size < part.count { size *= 2 }
            part += repeatElement(part[part.count - 1], count: size - part.count)
            guard part.contains(where: \.hasNUL) else {
                return KeyList(
                    arguments: StatementArguments(part), placeholders: "?" + String(repeating: ", ?", count: size - 1))
            }
            let bound = part.map(ColumnValue.bound)
            return KeyList(
                arguments: StatementArguments(bound.map(\.value)),
                placeholders: bound.map(\.sql).joined(separator: ", "))
        }
    }
}

extension DatabaseValue {
    /// Whether the value is a text that contains U+0000.
    fileprivate var hasNUL: Bool {
        guard case .string(let text) = storage else { return false }
        return text.utf8.contains(0)
    }
}
