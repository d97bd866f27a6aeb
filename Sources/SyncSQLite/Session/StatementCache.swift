import GRDB

/// The statements of one sync that are used again and again, by their SQL.
final class StatementCache {
    private let db: Database
    private var statements: [String: RawStatement] = [:]

    init(_ db: Database) { self.db = db }

    /// Forgets all statements, so that what they are about can be dropped.
    func removeAll() { statements = [:] }

    /// A statement ready to be bound.
    func statement(_ sql: String) throws -> RawStatement {
        if let known = statements[sql] {
            known.reset()
            return known
        }
        let statement = try RawStatement(db, sql)
        statements[sql] = statement
        return statement
    }
}
