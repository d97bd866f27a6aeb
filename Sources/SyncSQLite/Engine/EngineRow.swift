import GRDB
import SyncCore
import SyncStore

/// Reads the domains of one row. A foreign key whose row is not stored reads as the key that is waited for.
struct EngineRow {
    private let table: EngineTable
    private let sql: String

    init(_ table: EngineTable, _ model: CompiledModel) {
        self.table = table
        let key = table.table.keyColumn.quoted
        let family = model[table.entity.table].entities.map { model.entities[$0].name.literal }.joined(separator: ", ")
        let columns = table.columns.map { column in
            guard let relationship = column.relationship else { return "r.\(column.name.quoted)" }
            return """
                coalesce(r.\(column.name.quoted), (SELECT target_key FROM sync_pending WHERE owner_entity IN (\(family))
                  AND owner_key = +r.\(key) AND relationship = \(relationship.literal)))
                """
        }
        sql =
            "SELECT \((["r.\(key)"] + columns).joined(separator: ", ")) FROM \(table.table.name.quoted) AS r WHERE r.\(key) = ?"
    }

    /// By column; nil for a row that is not stored.
    func values(of key: DatabaseValue, in db: Database) throws -> [String: DatabaseValue]? {
        guard let row = try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [key]) else { return nil }
        return Dictionary(
            uniqueKeysWithValues: try table.columns.enumerated().map { place, column in
                (column.name, try Self.value(row, place + 1))
            })
    }

    /// Text whole, also behind a NUL.
    private static func value(_ row: Row, _ index: Int) throws -> DatabaseValue {
        let value: DatabaseValue = row[index]
        guard case .string = value.storage else { return value }
        return try row.withUnsafeData(atIndex: index) { ColumnValue.text($0) }
    }
}
