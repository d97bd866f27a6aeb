import GRDB
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
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

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
    }
}
