import GRDB
import SyncCore
import SyncStore

/// Corrects the engine's entries after surrogate keys changed while changes were not captured. SQLite may have given
/// the key of a deleted row to another row.
struct SurrogateKeyRepair {
    /// The tables with entries of rows with surrogate keys, by entity and key. `sync_known` comes last, because it has
    /// the names that other statements look up.
    static let tables = [
        "sync_change", "sync_base", "sync_request", "sync_conflict", "sync_seen", "sync_unread", "sync_tried",
        "sync_made", "sync_known",
    ]

    private let table: TrackedTable
    /// The tables whose rows may reference rows of the table.
    private let tables: [TrackedTable]
    private let db: Database

    init(_ table: TrackedTable, among tables: [TrackedTable], _ db: Database) {
        (self.table, self.tables, self.db) = (table, tables, db)
    }

    func repair() throws {
        guard table.key.isSurrogate else { return }
        let key = "r.\(table.table.keyColumn.quoted)"
        let moved = try Row.fetchAll(
            db,
            sql: """
                SELECT k, now FROM (
                  SELECT n.k, coalesce((SELECT \(key) FROM \(table.table.name.quoted) AS r
                    WHERE \(table.key.condition(of: "r", isNamed: "n.name"))), n.name) AS now
                  FROM sync_known AS n WHERE n.e = \(table.number) AND n.name IS NOT NULL)
                WHERE now IS NOT k
                """
        ).map { (old: $0[0] as DatabaseValue, new: $0[1] as DatabaseValue) }
        guard !moved.isEmpty else { return }
        try moveReferences(moved)
        // Move to unused keys first, since rows may have exchanged their keys.
        for (old, _) in moved { try move(old, to: "moved \(old)".databaseValue) }
        for (old, new) in moved { try move("moved \(old)".databaseValue, to: new) }
    }

    private func move(_ old: DatabaseValue, to new: DatabaseValue) throws {
        for name in Self.tables {
            try db.executeCached(
                sql: "UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?", arguments: [new, table.number, old])
        }
        for joinTable in table.joinTables {
            try db.executeCached(
                sql: "UPDATE OR REPLACE sync_link SET owner = ? WHERE link = ? AND owner = ?",
                arguments: [new, joinTable.name, old])
        }
        for joinTable in tables.flatMap(\.joinTables) where joinTable.destination == table.entity.table {
            try db.executeCached(
                sql: "UPDATE OR REPLACE sync_link SET other = ? WHERE link = ? AND other = ?",
                arguments: [new, joinTable.name, old])
        }
    }

    /// Replaces the keys in recorded values of rows that reference the moved rows: base values and sent values of foreign
    /// keys and lists.
    private func moveReferences(_ moved: [(old: DatabaseValue, new: DatabaseValue)]) throws {
        let pairs = moved.compactMap { String.fromDatabaseValue(LinkedRowList.text([$0.old, $0.new])) }
        let map = "[\(pairs.joined(separator: ", "))]"
        func new(_ key: String) -> String {
            """
            coalesce((SELECT json_extract(m.value, '$[1]') FROM json_each(:map) AS m
              WHERE json_extract(m.value, '$[0]') IS \(key)), \(key))
            """
        }
        let isOfRow = "e = :e"
        let isSent = "request IN (SELECT id FROM sync_request WHERE e = :e)"
        for (name, condition) in [("sync_base", isOfRow), ("sync_tried", isOfRow), ("sync_sent", isSent)] {
            let list = "(SELECT json_group_array(\(new("l.value"))) FROM json_each(\(name).value) AS l)"
            for other in tables {
                let columns = other.columns.filter { $0.destination == table.entity.table }
                let lists = other.joinTables.filter { $0.destination == table.entity.table }
                let fields = columns.map { ($0.name, new("\(name).value")) } + lists.map { ($0.field, list) }
                for (field, value) in fields {
                    try db.executeCached(
                        sql: """
                            UPDATE \(name) SET value = \(value) WHERE \(condition) AND domain = :domain AND value IS NOT NULL
                            """, arguments: ["map": map, "e": other.number, "domain": field])
                }
            }
        }
    }
}
