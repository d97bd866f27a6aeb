import SyncCore
import SyncStore

// The triggers that record added and removed join rows, and the order of a list before its first edit.
//
// If a row is deleted, its join rows stay recorded as removed. The row may be inserted again, or `REPLACE` may give its
// key to another row.
extension ChangeCaptureTriggers {
    func joinTableTriggers(_ joinTable: TrackedTable.JoinTable) -> [String] {
        func insertEdit(_ row: String, _ op: Int) -> [String] {
            let (owner, other) = ("\(row).\(joinTable.table.mine)", "\(row).\(joinTable.table.other)")
            let isThere = isStored(owner)
            let isNoted = op > 0 ? isThere : "(\(isThere) OR \(isKnown(key: owner)))"
            let isPair =
                "\"link\" = \(joinTable.name.literal) AND \"owner\" = +\(owner) AND \"other\" = +\(other)"
            return [
                Self.count,
                """
                INSERT INTO "sync_link" ("link", "owner", "other", "op", "edited")
                SELECT \(joinTable.name.literal), \(owner), \(other), \(op), \(Self.now) WHERE \(isNoted)
                ON CONFLICT DO UPDATE SET "op" = CASE "op" WHEN \(-op) THEN 0 ELSE \(op) END, "edited" = excluded."edited"
                """,
                "DELETE FROM \"sync_link\" WHERE \(isPair) AND \"op\" = 0",
                // When the key of a row changes, SQLite updates its join rows before the trigger of the row runs. That
                // trigger records the row as new, so this statement must not record it as updated.
                touch(owner, "\(isThere) AND \(self.isTracked("+\(owner)"))"),
            ]
        }
        let after = [
            ("insert", "AFTER INSERT", insertEdit("NEW", 1)), ("delete", "AFTER DELETE", insertEdit("OLD", -1)),
            ("update", "AFTER UPDATE", insertEdit("OLD", -1) + insertEdit("NEW", 1)),
        ]
        // `REPLACE` fires no delete trigger, so inserting a join row may also change its position.
        let before = [
            ("order_insert", "BEFORE INSERT", order(joinTable, "NEW")),
            ("order_delete", "BEFORE DELETE", order(joinTable, "OLD")),
            ("order_update", "BEFORE UPDATE", order(joinTable, "OLD")),
        ]
        let owner = table.isPart ? "_\(table.entity.name)" : ""
        let part = Self.trigger(
            "\(joinTable.name)_part_\(joinTable.end)\(owner)", "AFTER DELETE", on: joinTable.name,
            when: CaptureSuppression.deleting.isSet, [engineJoinRowDeletion(joinTable)])
        return [part]
            + (after + (joinTable.isOrdered ? before : [])).map { name, event, body in
                let condition =
                    Self.isCapturing + (name.hasSuffix("update") ? named.isNoRenumbering(of: joinTable) : "")
                return Self.trigger(
                    "\(joinTable.name)_\(name)_\(joinTable.end)\(owner)", event, on: joinTable.name, when: condition,
                    body)
            }
    }

    private func isStored(_ owner: String) -> String {
        "EXISTS (SELECT 1 FROM \(table.table.name.quoted) AS r WHERE r.\(key) = \(owner)\(table.isOwn("r")))"
    }

    /// Returns statements that record the order of a list before its first edit, and the time of each edit.
    ///
    /// The engine compares the order when it sends the row, since the edit may have no effect (`OR IGNORE`).
    private func order(_ joinTable: TrackedTable.JoinTable, _ row: String) -> [String] {
        let owner = "\(row).\(joinTable.table.mine)"
        let base = "\"e\" = \(table.number) AND \"k\" = +\(owner) AND \"domain\" = \(joinTable.field.literal)"
        let isKnown = isKnown(key: owner)
        let isThere = row == "OLD" ? "true" : isStored(owner)
        return [
            "UPDATE \"sync_base\" SET \"edited\" = \(Self.now) WHERE \(base)",
            """
            INSERT INTO "sync_base" ("e", "k", "domain", "value", "edited")
            SELECT \(table.number), \(owner), \(joinTable.field.literal),
              \(TrackedTable.JoinTable.arraySQL(of: joinTable.listSQL(owner))), \(Self.now)
            WHERE \(isKnown) AND \(isThere) AND NOT EXISTS (SELECT 1 FROM "sync_base" WHERE \(base))
            ON CONFLICT DO NOTHING
            """,
            touch(owner, "\(isKnown) AND \(isStored(owner))"),
        ]
    }
}
