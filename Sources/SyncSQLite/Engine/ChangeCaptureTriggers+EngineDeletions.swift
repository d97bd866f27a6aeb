import SyncCore
import SyncStore

extension ChangeCaptureTriggers {
    /// The statements that run when the engine deletes a row and a foreign key of a known row becomes NULL. They are
    /// used if the service does not cascade deletions.
    ///
    /// The change is sent to the service. Its `edited` is 0, so another value at the service wins.
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
                SELECT \(table.number), NEW.\(key), 'update', (SELECT "seq" FROM "sync_engine"), \(CascadeMarker.text.literal)
                WHERE \(condition)
                ON CONFLICT DO NOTHING
                """,
            ]
        }
    }

    /// The reasons to log a row that the engine deletes, each with a condition on `OLD`. At most one condition is true.
    private var engineDeletionReasons: [(condition: String, reason: String)] {
        // A change with the cascade mark is not an edit of the row.
        let isEdited =
            "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete' AND NOT \(CascadeMarker.isSet))"
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        let isUntouched = "NOT \(isEdited) AND NOT \(isDeleted)"
        let isPreexisting =
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("OLD")) AND \(PreexistingRows.condition))"
        let mayHaveUncapturedEdits =
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("OLD")) AND \(LocalRowState.auditedCondition))"
            + " AND NOT \(isPreexisting) AND \(isUntouched)"
        // A cascade deletes the row, which has no local edits. The service still has the row.
        let wentAlong =
            "\(CaptureSuppression.cascading.isSet) AND \(isKnown("OLD")) AND NOT \(isPreexisting) AND NOT (\(mayHaveUncapturedEdits)) AND \(isUntouched)"
        return [
            (isEdited, ConflictLog.deleted), ("\(isPreexisting) AND \(isUntouched)", ConflictLog.preexisting),
            (mayHaveUncapturedEdits, ConflictLog.audited),
        ]
            + (table.registration.sendsCascades ? [(wentAlong, ConflictLog.cascaded)] : [])
    }

    /// Returns the statement that copies a join row to `sync_parting` when the join row is removed while the engine
    /// deletes rows.
    ///
    /// A join row is deleted before its owner. When the owner is deleted, ``engineDeletion`` logs the list from
    /// `sync_parting`.
    func engineJoinRowDeletion(_ joinTable: TrackedTable.JoinTable) -> String {
        let (owner, other) = ("OLD.\(joinTable.table.mine)", "OLD.\(joinTable.table.other)")
        let position = joinTable.table.position.map { "OLD.\($0)" } ?? "NULL"
        return """
            INSERT INTO "sync_parting" ("list", "owner", "other", "place")
            VALUES (\(joinTable.field.literal), \(owner), \(other), \(position))
            ON CONFLICT DO UPDATE SET "place" = excluded."place"
            """
    }

    private var loggedLists: [String] {
        table.joinTables.flatMap { joinTable -> [String] in
            let list =
                "SELECT \"other\" AS k FROM \"sync_parting\" WHERE \"list\" = \(joinTable.field.literal) AND \"owner\" = +OLD.\(key)"
            let order = LinkOrderingSQL.terms(position: "\"place\"", key: "\"other\"")
            return engineDeletionReasons.map { condition, reason in
                """
                INSERT INTO "sync_conflict" ("at", "e", "k", "domain", "base", "local", "remote", "winner", "why")
                SELECT \(Self.now), \(table.number), OLD.\(key), \(joinTable.field.literal), NULL,
                  \(TrackedTable.JoinTable.arraySQL(of: "\(list) ORDER BY \(order)")), NULL, 'remote', \(reason.literal)
                WHERE \(condition) AND EXISTS (\(list))
                """
            }
        }
    }

    /// The statements that run when the engine deletes a row. If the row is logged, they log all its columns and lists.
    ///
    /// Then they delete its change, base values, join edits and known version. A pending local deletion keeps the
    /// change, the base values and the known version.
    var engineDeletion: [String] {
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        let log = table.columns.flatMap { column -> [String] in
            let base =
                "SELECT \"value\" FROM \"sync_base\" WHERE \(isRow("OLD")) AND \"domain\" = \(column.name.literal)"
            return engineDeletionReasons.map { condition, reason in
                """
                INSERT INTO "sync_conflict" ("at", "e", "k", "domain", "base", "local", "remote", "winner", "why")
                SELECT \(Self.now), \(table.number), OLD.\(key), \(column.name.literal),
                  CASE WHEN EXISTS (\(base)) THEN (\(base)) WHEN \(isKnown("OLD")) THEN OLD.\(column.name.quoted) END,
                  OLD.\(column.name.quoted), NULL, 'remote', \(reason.literal) WHERE \(condition)
                """
            }
        }
        // A service that does not cascade still has a row that a cascade deleted locally. Its deletion is sent.
        let sent =
            table.registration.sendsCascades
            ? [
                """
                INSERT INTO "sync_change" ("e", "k", "kind", "seq", "reason")
                SELECT \(table.number), OLD.\(key), 'delete', (SELECT "seq" FROM "sync_engine"), \(CascadeMarker.text.literal)
                WHERE \(CaptureSuppression.cascading.isSet) AND \(isKnown("OLD"))
                ON CONFLICT DO UPDATE SET "kind" = 'delete'
                """
            ] : []
        // The log identifies a deleted row by its name (see `TrackedKey`), since SQLite may reuse its surrogate key.
        let logged =
            "coalesce((SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("OLD"))), \(table.key.name(of: "OLD")))"
        let renamed =
            table.key.isSurrogate
            ? ["UPDATE \"sync_conflict\" SET \"k\" = \(logged) WHERE \(isRow("OLD"))"] : []
        // Lists are logged before columns: `ConflictLog.lastDeletion` reads the log backwards and stops at the first
        // repeated field.
        return loggedLists + log + renamed + [
            "DELETE FROM \"sync_base\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)",
            "DELETE FROM \"sync_change\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete'",
        ] + links("OLD") + named.deletions(of: "OLD.\(key)") + sent + [
            "DELETE FROM \"sync_known\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)"
        ]
            + moves(from: "+OLD.\(key)", to: deletedName)
    }
}
