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
    func finds(sql: String, arguments: StatementArguments) throws -> Bool {
        try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (\(sql))"), arguments: arguments) ?? false
    }
}
