import GRDB

/// Replaces the values of a column, which name rows of a table by one column, by the values of another column of these rows.
struct KeyLookup {
    /// The table and the column that has the values.
    let table: String
    let column: String
    /// The table that the values lead to, the column by which they do, and the one that has the new values.
    let target: String
    let oldKey: String
    let newKey: String

    /// The new value of a row of the table.
    var expression: String {
        let alias = "sync_target"
        return "(SELECT \(alias.quoted).\(newKey.quoted) FROM \(target.quoted) AS \(alias.quoted) "
            + "WHERE \(alias.quoted).\(oldKey.quoted) = \(table.quoted).\(column.quoted))"
    }

    private var lost: String {
        "SELECT count(*) FROM \(table.quoted) WHERE \(table.quoted).\(column.quoted) IS NOT NULL AND \(expression) IS NULL"
    }

    /// How many values lead to no row, or to one without the other value.
    func lostCount(_ db: Database) throws -> Int { try Int.fetchOne(db, sql: lost) ?? 0 }

    /// Statements that fail where a value would be lost: the rows of another database than the one that was looked at.
    var guardStatements: [String] {
        let name = "temp.\("sync_lost_links".quoted)"
        let constraint = "every_\(column)_must_lead_to_a_\(newKey)".quoted
        return [
            "DROP TABLE IF EXISTS \(name)",
            "CREATE TABLE \(name) (\("count".quoted) CONSTRAINT \(constraint) CHECK (\("count".quoted) = 0))",
            "INSERT INTO \(name) \(lost)",
            "DROP TABLE \(name)",
        ]
    }
}
