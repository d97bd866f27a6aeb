import SyncCore
import SyncStore

extension ChangeCaptureTriggers {
    /// A row that the engine unlinks because it deletes what the row belonged to, where the service does not: that is sent. It gives
    /// way to what the server has, since nobody meant it: that is what the time 0 says.
    var unlinked: [String] {
        table.columns.filter { $0.destination != nil }.flatMap { column -> [String] in
            let condition =
                "OLD.\(column.name.quoted) IS NOT NULL AND NEW.\(column.name.quoted) IS NULL AND \(isKnown("NEW"))"
            return [
                """
                INSERT INTO "sync_base" ("e", "k", "domain", "value", "edited")
                SELECT \(table.number), NEW.\(key), \(column.name.literal), OLD.\(column.name.quoted), 0 WHERE \(condition)
                ON CONFLICT DO NOTHING
                """,
                """
                INSERT INTO "sync_change" ("e", "k", "kind", "seq", "reason")
                SELECT \(table.number), NEW.\(key), 'update', (SELECT "seq" FROM "sync_engine"), \(CascadeMark.text.literal)
                WHERE \(condition)
                ON CONFLICT DO NOTHING
                """,
            ]
        }
    }

    /// Why a row that the engine deletes is in the log: conditions on `OLD`, of which one holds at most.
    private var departureReasons: [(condition: String, why: String)] {
        // That another row's deletion unlinked it is no edit of its own.
        let isEdited =
            "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete' AND NOT \(CascadeMark.isSet))"
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        let isUntouched = "NOT \(isEdited) AND NOT \(isDeleted)"
        let isPreexisting =
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("OLD")) AND \(PreexistingRows.condition))"
        let isAudited =
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("OLD")) AND \(LocalRowState.auditedCondition))"
            + " AND NOT \(isPreexisting) AND \(isUntouched)"
        // So does what goes along with another one though nobody edited it: the service has it still.
        let wentAlong =
            "\(CaptureSuppression.cascading.isSet) AND \(isKnown("OLD")) AND NOT \(isPreexisting) AND NOT (\(isAudited)) AND \(isUntouched)"
        return [
            (isEdited, ConflictLog.deleted), ("\(isPreexisting) AND \(isUntouched)", ConflictLog.presumed),
            (isAudited, ConflictLog.audited),
        ]
            + (table.registration.sendsCascades ? [(wentAlong, ConflictLog.wentAlong)] : [])
    }

    /// A pair that the engine removes while it deletes rows: it goes before its row, whose list goes into the log.
    func parting(_ pairs: TrackedTable.JoinTable) -> String {
        let (owner, other) = ("OLD.\(pairs.table.mine)", "OLD.\(pairs.table.other)")
        let place = pairs.table.place.map { "OLD.\($0)" } ?? "NULL"
        return """
            INSERT OR REPLACE INTO "sync_parting" ("list", "owner", "other", "place")
            VALUES (\(pairs.domain.literal), \(owner), \(other), \(place))
            """
    }

    private var partedLists: [String] {
        table.pairs.flatMap { pairs -> [String] in
            let list =
                "SELECT \"other\" AS k FROM \"sync_parting\" WHERE \"list\" = \(pairs.domain.literal) AND \"owner\" = +OLD.\(key)"
            let order = LinkOrderingSQL.terms(place: "\"place\"", key: "\"other\"")
            return departureReasons.map { condition, why in
                """
                INSERT INTO "sync_conflict" ("at", "e", "k", "domain", "base", "local", "remote", "winner", "why")
                SELECT \(Self.now), \(table.number), OLD.\(key), \(pairs.domain.literal), NULL,
                  \(TrackedTable.JoinTable.arraySQL(of: "\(list) ORDER BY \(order)")), NULL, 'remote', \(why.literal)
                WHERE \(condition) AND EXISTS (\(list))
                """
            }
        }
    }

    /// A row that the engine deletes: its edits go into the log, whole, and what is known of it is forgotten.
    var departure: [String] {
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        let log = table.columns.flatMap { column -> [String] in
            let base =
                "SELECT \"value\" FROM \"sync_base\" WHERE \(isRow("OLD")) AND \"domain\" = \(column.name.literal)"
            return departureReasons.map { condition, why in
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
                SELECT \(table.number), OLD.\(key), 'delete', (SELECT "seq" FROM "sync_engine"), \(CascadeMark.text.literal)
                WHERE \(CaptureSuppression.cascading.isSet) AND \(isKnown("OLD"))
                ON CONFLICT DO UPDATE SET "kind" = 'delete'
                """
            ] : []
        // In the log it is found by its key, which its own may be made of.
        let logged =
            "coalesce((SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("OLD"))), \(table.key.name(of: "OLD")))"
        let renamed =
            table.key.isHidden
            ? ["UPDATE \"sync_conflict\" SET \"k\" = \(logged) WHERE \(isRow("OLD"))"] : []
        // Lists first: what a row had is read from the log until a column comes again.
        return partedLists + log + renamed + [
            "DELETE FROM \"sync_base\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)",
            "DELETE FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete'",
        ] + links("OLD") + named.forgotten("OLD.\(key)") + sent + [
            "DELETE FROM \"sync_known\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)"
        ]
            + moves(to: goneName) { "\($0) = +OLD.\(key)" }
    }
}
