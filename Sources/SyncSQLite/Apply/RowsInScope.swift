import GRDB
import SyncCore

/// The stored rows for which the condition of a scope holds, asked about one by one: a parent has few of them.
final class RowsInScope {
    private let statement: Statement
    private let arguments: [DatabaseValue]

    init(_ sync: SyncTransaction) throws {
        let root = sync.rootEntity
        let scope = try sync.scopeCondition()
        let table = sync.columns[root.tree]
        let conditions = [
            scope?.sql, PredicateSQL.familyCondition(root, layout: sync.layout, alias: "scope"),
        ]
        statement = try sync.db.makeStatement(
            sql: "SELECT 1 FROM \(table.table) AS scope WHERE scope.\(table.keyColumn) = ?"
                + conditions.compactMap(\.self).map { " AND (\($0))" }.joined())
        arguments = scope?.arguments ?? []
    }

    func contains(_ row: StoredRow) throws -> Bool {
        try Row.fetchOne(statement, arguments: StatementArguments([row.key.databaseValue] + arguments)) != nil
    }
}
