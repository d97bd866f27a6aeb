import GRDB
import SyncStore

/// The base order of edited lists: the last order that both sides had, as stored in `sync_base`.
struct BaseListOrder {
    private let table: TrackedTable
    private let joinTable: TrackedTable.JoinTable
    private let db: Database

    init(_ table: TrackedTable, _ joinTable: TrackedTable.JoinTable, _ db: Database) {
        self.table = table
        self.joinTable = joinTable
        self.db = db
    }

    /// Returns the base order of a list; nil if the list is not ordered, or if no base order is stored.
    func keys(of key: DatabaseValue) throws -> [DatabaseValue]? {
        guard joinTable.isOrdered else { return nil }
        let statement = try db.cachedStatement(sql: "SELECT value FROM sync_base WHERE e = ? AND k = ? AND domain = ?")
        let text = try DatabaseValue.fetchOne(statement, arguments: [table.number, key, joinTable.field])
        return try text.map(LinkedRowList.keys)
    }

    /// Stores the base order of a list.
    ///
    /// - Parameter keys: The base order; nil to delete it.
    func set(_ keys: [DatabaseValue]?, of key: DatabaseValue, editTime: Int64 = SQLiteEngineStore.now) throws {
        try table.setBase(keys.map(LinkedRowList.text), of: joinTable.field, key, editTime: editTime, in: db)
    }

    /// Replaces the key of a linked row in the base orders of this relationship. If the row is stored, call this method
    /// after it has the new key.
    ///
    /// The statement reads only lists that contain the row or have a join edit of it. Other base orders cannot contain
    /// its key.
    func rekey(_ old: DatabaseValue, _ new: DatabaseValue) throws {
        guard joinTable.isOrdered else { return }
        let names = joinTable.table
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
                "old": old, "new": new, "e": table.number, "domain": joinTable.field, "link": joinTable.name,
            ])
    }
}
