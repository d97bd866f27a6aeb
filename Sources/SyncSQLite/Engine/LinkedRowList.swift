import GRDB
import SyncCore
import SyncStore

/// A many-to-many list of a row: the keys of the linked rows, ordered by position, or by key if they have no positions.
struct LinkedRowList {
    private let sql: String
    private let positionSQL: String?

    init(_ joinTable: TrackedTable.JoinTable) {
        let names = joinTable.table
        sql = joinTable.listSQL("?")
        positionSQL = names.position.map {
            "UPDATE \(names.table) SET \($0) = ? WHERE \(names.mine) = ? AND \(names.other) = ?"
        }
    }

    func others(of key: DatabaseValue, in db: Database) throws -> [DatabaseValue] {
        try DatabaseValue.fetchAll(db.cachedStatement(sql: sql), arguments: [key])
    }

    /// Sets the order of an ordered list. Rows that are not in `others` come last. Writes nothing if the list is not
    /// ordered, or if `others` contains all its rows in their stored order.
    func order(_ others: [DatabaseValue], of key: DatabaseValue, in db: Database) throws {
        guard let positionSQL else { return }
        let stored = try self.others(of: key, in: db)
        let all = Set(stored)
        let list = others.filter(all.contains)
        guard list != stored else { return }
        for (position, other) in (list + stored.filter { !others.contains($0) }).enumerated() {
            try db.cachedStatement(sql: positionSQL).execute(arguments: [position, key, other])
        }
    }

    /// Returns keys as the JSON array that the engine's tables store for a list.
    static func text(_ keys: [DatabaseValue]) -> DatabaseValue {
        JSONValue.array(
            keys.map { key in
                switch key.storage {
                case .int64(let value): JSONValue(value)
                case .double(let value): JSONValue(floatLiteral: value)
                case .string(let text): .string(text)
                case .null, .blob: .null
                }
            }
        ).text.databaseValue
    }

    static func keys(_ text: DatabaseValue) throws -> [DatabaseValue] {
        guard let text = String.fromDatabaseValue(text) else { return [] }
        return keys(try EngineTableCheck.json(text))
    }

    static func keys(_ json: JSONValue) -> [DatabaseValue] {
        guard case .array(let elements) = json else { return [] }
        return elements.map { element in
            switch element {
            case .number(let text): Int64(text)?.databaseValue ?? Double(text)?.databaseValue ?? .null
            case .string(let text): text.databaseValue
            default: .null
            }
        }
    }
}

extension TrackedTable.JoinTable {
    /// The field name of the list in the engine's tables.
    var field: String { "\(name) \(end)" }

    /// Whether the list has positions, so that its order is sent and merged.
    var isOrdered: Bool { table.position != nil }

    /// Returns the query for the keys of the rows that are linked to a row, in list order. Its column is named `k`.
    ///
    /// - Parameter owner: The SQL of the key of the row.
    func listSQL(_ owner: String) -> String {
        """
        SELECT \(table.other) AS k FROM \(table.table) WHERE \(table.mine) = \(owner)
        ORDER BY \(LinkOrderingSQL.terms(position: table.position, key: table.other))
        """
    }

    /// Returns the SQL of a JSON array of the column `k` of a query. The array has the format of
    /// ``LinkedRowList/text(_:)``.
    static func arraySQL(of rows: String) -> String {
        "(SELECT json_group_array(CASE typeof(k) WHEN 'blob' THEN NULL ELSE k END) FROM (\(rows)))"
    }
}
