import GRDB
import SyncCore
import SyncStore

/// Reads the column values of one row. For a foreign key with a pending reference, the value is the key of the row that
/// is not stored yet.
///
/// Code that writes the foreign key must delete the pending reference.
struct FieldReader: Sendable {
    private let names: [String]
    /// The query, up to the list of keys.
    private let select: String
    /// The condition that rows belong to the entity, after the list of keys.
    private let own: String

    /// `family` is the SQL list of the names of the entities whose rows are read, `own` the SQL condition of their rows
    /// `r`, beginning with `AND`.
    init(_ columns: [TrackedTable.Column], of table: TableLayout, family: String, own: String) {
        let key = table.keySQL
        let values = columns.map { column in
            guard let relationship = column.relationship else { return "r.\(column.sql)" }
            return """
                coalesce((SELECT target_key FROM sync_pending WHERE owner_entity IN (\(family))
                  AND owner_key = +r.\(key) AND relationship = \(relationship.literal)), r.\(column.sql))
                """
        }
        names = columns.map(\.name)
        select =
            "SELECT \((["r.\(key)"] + values).joined(separator: ", ")) FROM \(table.sql) AS r WHERE r.\(key) IN "
        self.own = own
    }

    /// Returns the values by column; nil if the row is not stored.
    func values(of key: DatabaseValue, in db: Database) throws -> [String: DatabaseValue]? {
        try db.row("\(select)(?)\(own)", key).map(values)
    }

    /// Returns the values of the rows that are stored, by key and column.
    func values(of keys: [DatabaseValue], in db: Database) throws -> [BinaryComparedValue: [String: DatabaseValue]] {
        var found: [BinaryComparedValue: [String: DatabaseValue]] = [:]
        try db.forEachRow(select, keys, end: own) { found[$0[0].exact] = values($0) }
        return found
    }

    private func values(_ row: ResultRow) -> [String: DatabaseValue] {
        Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, row[$0 + 1]) })
    }
}

extension TableLayout {
    var sql: String { name.quoted }
    var keySQL: String { keyColumn.quoted }

    /// Returns whether the table has a row with a key, of whatever entity.
    func hasRow(_ key: DatabaseValue, in db: Database) throws -> Bool {
        try db.finds("SELECT 1 FROM \(sql) WHERE \(keySQL) = ?", key)
    }

    func deleteRow(_ key: DatabaseValue, in db: Database) throws {
        try db.run("DELETE FROM \(sql) WHERE \(keySQL) = ?", key)
    }

    /// Sets a column of a row. `orIgnore`: whether to keep the row unchanged if a constraint rejects the value.
    func set(
        _ column: String, to value: DatabaseValue?, ofRow key: DatabaseValue, orIgnore: Bool = false, in db: Database
    ) throws {
        try db.run(
            "UPDATE \(orIgnore ? "OR IGNORE " : "")\(sql) SET \(column.quoted) = ? WHERE \(keySQL) = ?", value, key)
    }
}
