import GRDB
import SyncStore

/// The order that both sides had last agreed on of a list that was edited since, as `sync_base` has it.
struct BaseOrder {
    private let table: TrackedTable
    private let pairs: TrackedTable.JoinTable
    private let db: Database

    init(_ table: TrackedTable, _ pairs: TrackedTable.JoinTable, _ db: Database) {
        self.table = table
        self.pairs = pairs
        self.db = db
    }

    /// Nil for a list that was not edited.
    func keys(of key: DatabaseValue) throws -> [DatabaseValue]? {
        guard pairs.isOrdered else { return nil }
        let statement = try db.cachedStatement(sql: "SELECT value FROM sync_base WHERE e = ? AND k = ? AND domain = ?")
        let text = try DatabaseValue.fetchOne(statement, arguments: [table.number, key, pairs.domain])
        return try text.map(LinkedRowList.keys)
    }

    /// - Parameter keys: Nil for a list that both sides have in the same order.
    func set(_ keys: [DatabaseValue]?, of key: DatabaseValue, edited: Int64 = SQLiteEngineStore.now) throws {
        try table.setBase(keys.map(LinkedRowList.text), of: pairs.domain, key, edited: edited, in: db)
    }

    /// A row that the lists name has another key, where it is stored, too. The lists that had it have it still, or it was taken out of
    /// them.
    func follow(_ old: DatabaseValue, _ new: DatabaseValue) throws {
        guard pairs.isOrdered else { return }
        let names = pairs.table
        try db.executeCached(
            sql: """
                UPDATE sync_base SET value = (
                  SELECT json_group_array(CASE WHEN value IS :old THEN :new ELSE value END)
                  FROM json_each(sync_base.value))
                WHERE e = :e AND domain = :domain AND EXISTS (SELECT 1 FROM json_each(sync_base.value) WHERE value IS :old)
                  AND k IN (
                    SELECT \(names.mine) FROM \(names.table) WHERE \(names.other) IN (:old, :new)
                    UNION SELECT owner FROM sync_link WHERE link = :link AND other IN (:old, :new))
                """,
            arguments: [
                "old": old, "new": new, "e": table.number, "domain": pairs.domain, "link": pairs.name,
            ])
    }
}
