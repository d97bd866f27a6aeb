import SyncCore
import SyncStore

extension OutboxTriggers {
    /// A row that the engine deletes: its edits go into the log, whole, and what is known of it is forgotten.
    var departure: [String] {
        let isEdited = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete')"
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        // So does what goes along with another one though nobody edited it: the service has it still.
        let wentAlong =
            "EXISTS (SELECT 1 FROM \"sync_mute\" WHERE \"n\" = 2) AND \(isKnown("OLD")) AND NOT \(isEdited) AND NOT \(isDeleted)"
        let reasons =
            [(isEdited, ConflictLog.deleted)]
            + (table.registration.sendsCascades ? [(wentAlong, ConflictLog.wentAlong)] : [])
        let log = table.columns.flatMap { column -> [String] in
            let base =
                "SELECT \"value\" FROM \"sync_base\" WHERE \(isRow("OLD")) AND \"domain\" = \(column.name.literal)"
            return reasons.map { condition, why in
                """
                INSERT INTO "sync_conflict" ("at", "e", "k", "domain", "base", "local", "remote", "winner", "why")
                SELECT \(Self.now), \(table.number), OLD.\(key), \(column.name.literal),
                  CASE WHEN EXISTS (\(base)) THEN (\(base)) WHEN \(isKnown("OLD")) THEN OLD.\(column.name.quoted) END,
                  OLD.\(column.name.quoted), NULL, 'remote', \(why.literal) WHERE \(condition)
                """
            }
        }
        // What goes along with a row that the server deleted it deletes by itself, unless the service does not.
        let sent =
            table.registration.sendsCascades
            ? [
                """
                INSERT INTO "sync_change" ("e", "k", "kind", "seq", "reason")
                SELECT \(table.number), OLD.\(key), 'delete', (SELECT "seq" FROM "sync_engine"), 'cascade'
                WHERE EXISTS (SELECT 1 FROM "sync_mute" WHERE "n" = 2) AND \(isKnown("OLD"))
                ON CONFLICT DO UPDATE SET "kind" = 'delete'
                """
            ] : []
        // In the log it is found by its key, which its own may be made of.
        let logged =
            "coalesce((SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("OLD"))), \(table.key.name(of: "OLD")))"
        let renamed =
            table.key.isHidden
            ? ["UPDATE \"sync_conflict\" SET \"k\" = \(logged) WHERE \(isRow("OLD"))"] : []
        return log + renamed + [
            "DELETE FROM \"sync_base\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)",
            "DELETE FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete'",
        ] + links("OLD") + named.forgotten("OLD.\(key)") + sent + [
            "DELETE FROM \"sync_known\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)"
        ]
            + moves(to: goneName) { "\($0) = +OLD.\(key)" }
    }
}
