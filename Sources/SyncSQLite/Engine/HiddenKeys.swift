import GRDB
import SyncStore

/// Brings what the engine says of rows with hidden keys back to them, where their hidden keys changed while nobody took notice:
/// a row may be gone, and its key another one's.
struct HiddenKeys {
    /// The tables that say something of a row; the one with their names last.
    static let tables = [
        "sync_change", "sync_base", "sync_request", "sync_conflict", "sync_seen", "sync_unread", "sync_tried",
        "sync_made", "sync_known",
    ]

    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

    func find() throws {
        guard table.key.isHidden else { return }
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
        // By way of what no row is known by: keys may have been exchanged.
        for (old, _) in moved { try move(old, to: "moved \(old)".databaseValue) }
        for (old, new) in moved { try move("moved \(old)".databaseValue, to: new) }
    }

    private func move(_ old: DatabaseValue, to new: DatabaseValue) throws {
        for name in Self.tables {
            try db.executeCached(
                sql: "UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?", arguments: [new, table.number, old])
        }
        for pairs in table.pairs {
            try db.executeCached(
                sql: "UPDATE OR REPLACE sync_link SET owner = ? WHERE link = ? AND owner = ?",
                arguments: [new, pairs.name, old])
        }
    }
}
