import SyncCore
import SyncStore

// Capture of join rows: which were added or removed, and the order of a list before its first edit.
//
// Join rows of a deleted row stay recorded as removed. The row may be inserted again, or `REPLACE` may give its key to
// another row.
extension ChangeCaptureTriggers {
    func pairs(_ pairs: TrackedTable.JoinTable) -> [String] {
        func insertEdit(_ row: String, _ op: Int) -> [String] {
            let (owner, other) = ("\(row).\(pairs.table.mine)", "\(row).\(pairs.table.other)")
            let isThere = isStored(owner)
            let isNoted = op > 0 ? isThere : "(\(isThere) OR \(isKnown(key: owner)))"
            let isPair =
                "\"link\" = \(pairs.name.literal) AND \"owner\" = +\(owner) AND \"other\" = +\(other)"
            return [
                Self.count,
                """
                INSERT INTO "sync_link" ("link", "owner", "other", "op", "edited")
                SELECT \(pairs.name.literal), \(owner), \(other), \(op), \(Self.now) WHERE \(isNoted)
                ON CONFLICT DO UPDATE SET "op" = CASE "op" WHEN \(-op) THEN 0 ELSE \(op) END, "edited" = excluded."edited"
                """,
                "DELETE FROM \"sync_link\" WHERE \(isPair) AND \"op\" = 0",
                // When a key changes, SQLite updates the join rows before the row's own trigger runs.
                // That trigger records the row as new, so this one must not record it as updated.
                touch(owner, "\(isThere) AND \(self.isNoted("+\(owner)"))"),
            ]
        }
        let after = [
            ("insert", "AFTER INSERT", insertEdit("NEW", 1)), ("delete", "AFTER DELETE", insertEdit("OLD", -1)),
            ("update", "AFTER UPDATE", insertEdit("OLD", -1) + insertEdit("NEW", 1)),
        ]
        // `REPLACE` fires no delete trigger, so an insertion may also move a join row.
        let before = [
            ("order_insert", "BEFORE INSERT", order(pairs, "NEW")),
            ("order_delete", "BEFORE DELETE", order(pairs, "OLD")),
            ("order_update", "BEFORE UPDATE", order(pairs, "OLD")),
        ]
        let owner = table.isPart ? "_\(table.entity.name)" : ""
        let part = Self.trigger(
            "\(pairs.name)_part_\(pairs.end)\(owner)", "AFTER DELETE", on: pairs.name,
            when: CaptureSuppression.deleting.isSet, [parting(pairs)])
        return [part]
            + (after + (pairs.isOrdered ? before : [])).map { name, event, body in
                let condition = Self.heard + (name.hasSuffix("update") ? named.isNoRenumbering(of: pairs) : "")
                return Self.trigger(
                    "\(pairs.name)_\(name)_\(pairs.end)\(owner)", event, on: pairs.name, when: condition, body)
            }
    }

    private func isStored(_ owner: String) -> String {
        "EXISTS (SELECT 1 FROM \(table.table.name.quoted) AS r WHERE r.\(key) = \(owner)\(table.isOwn("r")))"
    }

    /// Returns statements that record the order of a list before its first edit.
    ///
    /// Whether the order differs is determined when the row is sent. The edit may also have no effect (`OR IGNORE`).
    private func order(_ pairs: TrackedTable.JoinTable, _ row: String) -> [String] {
        let owner = "\(row).\(pairs.table.mine)"
        let base = "\"e\" = \(table.number) AND \"k\" = +\(owner) AND \"domain\" = \(pairs.domain.literal)"
        let isKnown = isKnown(key: owner)
        let isThere = row == "OLD" ? "true" : isStored(owner)
        return [
            "UPDATE \"sync_base\" SET \"edited\" = \(Self.now) WHERE \(base)",
            """
            INSERT INTO "sync_base" ("e", "k", "domain", "value", "edited")
            SELECT \(table.number), \(owner), \(pairs.domain.literal),
              \(TrackedTable.JoinTable.arraySQL(of: pairs.listSQL(owner))), \(Self.now)
            WHERE \(isKnown) AND \(isThere) AND NOT EXISTS (SELECT 1 FROM "sync_base" WHERE \(base))
            ON CONFLICT DO NOTHING
            """,
            touch(owner, "\(isKnown) AND \(isStored(owner))"),
        ]
    }
}
