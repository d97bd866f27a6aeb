import GRDB
import SyncCore
import SyncStore

// Changed rows whose references a nested list may change. A row that is not stored yet is referenced by a pending
// reference.
extension EngineLedger {
    /// Returns the known rows whose edited foreign key referenced a row before the edit or references it now, also by a
    /// pending reference.
    func rowsEdited(
        in column: TrackedTable.Column, of table: TrackedTable, referencing owner: DatabaseValue
    ) throws -> [DatabaseValue] {
        let (rows, key, name) = (table.sql, table.keySQL, column.sql)
        return try db.values(
            """
            SELECT b.k FROM sync_base AS b INDEXED BY sync_base_value CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE b.e = :e AND b.field = :field AND \(EngineSchema.isBase("b", ":owner")) AND c.kind = 'update'
            UNION
            SELECT b.k FROM \(rows) AS r
            CROSS JOIN sync_base AS b ON b.e = :e AND b.k = +r.\(key) AND b.field = :field
            CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE r.\(name) = :owner AND c.kind = 'update'
            UNION
            SELECT b.k FROM sync_pending AS p
            CROSS JOIN sync_base AS b ON b.e = :e AND b.k = +p.owner_key AND b.field = :field
            CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE \(isPending(column.relationship, column.targets, table, ":owner")) AND c.kind = 'update'
            """, ["e": table.number, "field": column.name, "owner": owner])
    }

    /// Returns the new rows that reference a row, also by a pending reference.
    func newRows(
        of table: TrackedTable, referencing owner: DatabaseValue, in column: TrackedTable.Column
    ) throws -> [DatabaseValue] {
        try db.values(
            """
            SELECT c.k FROM \(table.sql) AS r
            CROSS JOIN sync_outbox AS c ON c.e = ?1 AND c.k = +r.\(table.keySQL)
            WHERE r.\(column.sql) = ?2 AND c.kind = 'create'
            UNION
            SELECT c.k FROM sync_pending AS p CROSS JOIN sync_outbox AS c ON c.e = ?1 AND c.k = +p.owner_key
            WHERE \(isPending(column.relationship, column.targets, table, "?2")) AND c.kind = 'create'
            """, table.number, owner)
    }

    /// Returns the new rows whose lists contain a row, also as a pending reference.
    func newRows(
        of table: TrackedTable, with other: DatabaseValue, in joinTable: TrackedTable.JoinTable
    ) throws -> [DatabaseValue] {
        let names = joinTable.table
        return try db.values(
            """
            SELECT c.k FROM \(names.table) AS p CROSS JOIN sync_outbox AS c ON c.e = ?1 AND c.k = +p.\(names.mine)
            WHERE p.\(names.other) = ?2 AND c.kind = 'create'
            UNION
            SELECT c.k FROM sync_pending AS p CROSS JOIN sync_outbox AS c ON c.e = ?1 AND c.k = +p.owner_key
            WHERE \(isPending(joinTable.relationship, joinTable.targets, table, "?2")) AND c.kind = 'create'
            """, table.number, other)
    }

    /// Returns the SQL condition that `p`, of `sync_pending`, references a row with a key. `targets` is the SQL list of
    /// the names of the entities that the row may have. Without the `+`, SQLite would read all pending references of the
    /// owner's entity.
    private func isPending(
        _ relationship: String?, _ targets: String, _ table: TrackedTable, _ key: String
    ) -> String {
        """
        p.target_entity IN (\(targets)) AND p.target_key = \(key) AND +p.owner_entity IN (\(table.family))
          AND p.relationship = \((relationship ?? "").literal)
        """
    }
}
