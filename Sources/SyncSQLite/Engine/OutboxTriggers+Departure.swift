import SyncCore
import SyncStore

extension OutboxTriggers {
    /// A row that the engine deletes: its edits go into the log, whole, and what is known of it is forgotten.
    var departure: [String] {
        let isEdited = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete')"
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        let log = table.columns.map { column -> String in
            let base =
                "SELECT \"value\" FROM \"sync_base\" WHERE \(isRow("OLD")) AND \"domain\" = \(column.name.literal)"
            return """
                INSERT INTO "sync_conflict" ("at", "e", "k", "domain", "base", "local", "remote", "winner", "why")
                SELECT \(Self.now), \(table.number), OLD.\(key), \(column.name.literal),
                  CASE WHEN EXISTS (\(base)) THEN (\(base)) WHEN \(isKnown("OLD")) THEN OLD.\(column.name.quoted) END,
                  OLD.\(column.name.quoted), NULL, 'remote', '\(ConflictLog.deleted)' WHERE \(isEdited)
                """
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
        let named =
            table.key.isHidden
            ? ["UPDATE \"sync_conflict\" SET \"k\" = \(logged) WHERE \(isRow("OLD"))"] : []
        return log + named + [
            "DELETE FROM \"sync_base\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)",
            "DELETE FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete'",
        ] + links("OLD") + sent + ["DELETE FROM \"sync_known\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)"]
            + moves(to: goneName, where: "\"k\" = +OLD.\(key)")
    }
}
