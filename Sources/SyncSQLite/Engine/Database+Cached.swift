import GRDB

/// Methods that compile a statement once per connection and then reuse it.
extension Database {
    func executeCached(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rowsCached(sql: String, arguments: StatementArguments = StatementArguments()) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func rowCached(sql: String, arguments: StatementArguments = StatementArguments()) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns whether a query returns a row.
    func finds(sql: String, arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (\(sql))"), arguments: arguments) ?? false
    }
}

/// Keys for a condition `IN (…)` of one statement.
struct KeyList {
    let arguments: StatementArguments
    let placeholders: String

    /// The largest number of keys in a list.
    private static let largest = 256

    /// Returns the range of integer keys of which most numbers are keys; nil for other keys.
    ///
    /// A scan of such a range costs less than a lookup of each key.
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

    /// Returns lists of the keys.
    ///
    /// The number of placeholders in a list is a power of two, so that few statements are compiled. The last key fills
    /// up the list.
    static func lists(of keys: [DatabaseValue]) -> [KeyList] {
        stride(from: 0, to: keys.count, by: largest).map { start in
            var part = Array(keys[start..<min(start + largest, keys.count)])
            var size = 1
            while size < part.count { size *= 2 }
            part += repeatElement(part[part.count - 1], count: size - part.count)
            return KeyList(
                arguments: StatementArguments(part),
                placeholders: "?" + String(repeating: ", ?", count: size - 1))
        }
    }
}
