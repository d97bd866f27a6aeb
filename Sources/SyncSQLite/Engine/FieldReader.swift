import GRDB
import SyncStore

/// Reads the domains of one row. A foreign key reads as the key that is waited for, if there is one: whoever writes
/// the column drops that.
struct FieldReader: Sendable {
    private let names: [String]
    private let sql: String

    /// - Parameters:
    ///   - family: The names of the entities whose rows are read, as SQL.
    ///   - isPart: Whether the table has rows of others too.
    init(_ columns: [TrackedTable.Column], of table: TableLayout, family: String, isPart: Bool) {
        let key = table.keyColumn.quoted
        let own = isPart ? " AND r.\(TableLayout.entityColumn.quoted) IN (\(family))" : ""
        let values = columns.map { column in
            guard let relationship = column.relationship else { return "r.\(column.name.quoted)" }
            return """
                coalesce((SELECT target_key FROM sync_pending WHERE owner_entity IN (\(family))
                  AND owner_key = +r.\(key) AND relationship = \(relationship.literal)), r.\(column.name.quoted))
                """
        }
        names = columns.map(\.name)
        sql =
            "SELECT \((["r.\(key)"] + values).joined(separator: ", ")) FROM \(table.name.quoted) AS r WHERE r.\(key) = ?\(own)"
    }

    /// By column; nil for a row that is not stored.
    func values(of key: DatabaseValue, in db: Database) throws -> [String: DatabaseValue]? {
        guard let row = try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [key]) else { return nil }
        return Dictionary(
            uniqueKeysWithValues: try names.enumerated().map { place, name in (name, try Self.value(row, place + 1)) })
    }

    /// Text whole, also behind a NUL.
    private static func value(_ row: Row, _ index: Int) throws -> DatabaseValue {
        let value: DatabaseValue = row[index]
        guard case .string = value.storage else { return value }
        return try row.withUnsafeData(atIndex: index) { ColumnValue.text($0) }
    }
}
