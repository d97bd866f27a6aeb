import GRDB
import SyncCore
import SyncStore

// The statements that run when rows and join rows are written.
extension ChangeCaptureTriggers {
    // MARK: Rows

    var insertion: [String] {
        [Self.count] + reinsertion + [
            """
            INSERT INTO "sync_outbox" ("e", "k", "kind", "creation_id", "seq")
            SELECT \(table.number), NEW.\(key), CASE WHEN \(isKnown("NEW")) THEN 'update' ELSE 'create' END,
              CASE WHEN \(isKnown("NEW")) THEN NULL ELSE lower(hex(randomblob(16))) END, (SELECT "seq" FROM "sync_engine")
            WHERE NEW.\(key) IS NOT NULL
            ON CONFLICT DO UPDATE SET "kind" = CASE WHEN "creation_id" IS NULL THEN 'update' ELSE 'create' END,
              \(EngineLedger.edited())
            """,
            "DELETE FROM \"sync_made\" WHERE \(isRow("NEW"))",
            """
            INSERT INTO "sync_made" ("e", "k", "field", "edited")
            SELECT \(table.number), NEW.\(key), '', \(Database.nowSQL) WHERE NEW.\(key) IS NOT NULL AND NOT \(isKnown("NEW"))
            ON CONFLICT DO NOTHING
            """,
        ]
    }

    /// The statement that records when columns of a row outside `sync_known` are set. For rows in `sync_known`, the
    /// base values have these times.
    private var times: String {
        let columns = table.columns.map { "(\($0.name.literal), \(differs($0.name)))" }.joined(separator: ", ")
        return """
            INSERT INTO "sync_made" ("e", "k", "field", "edited")
            SELECT \(table.number), NEW.\(key), "column1", \(Database.nowSQL) FROM (VALUES \(columns))
            WHERE "column2" AND NOT \(isKnown("NEW"))
            ON CONFLICT DO UPDATE SET "edited" = excluded."edited"
            """
    }

    /// The statements that move unreadable remote values to the new key of a row.
    var movedUnreadableValues: [String] {
        EntryMove.ofRow(in: "sync_unreadable", table.number).statements(from: "+OLD.\(key)", to: "NEW.\(key)")
    }

    var update: [String] {
        let bases = table.columns.map { column -> String in
            // A row to be created again (see `LocalEditTimes.isRestored`) has base values although it is not in
            // `sync_known`.
            let condition =
                "\(differs(column.name)) AND (\(isKnown("NEW")) OR \(LocalEditTimes.isRestored(isRow("NEW"))))"
            return base(column, "OLD", "NEW", condition, edits: true)
        }
        // If a row references itself, a key change updates the foreign key before the trigger records the key change.
        // So the new key may not be tracked yet.
        return [Self.count] + bases + [times, touch("NEW.\(key)", isTracked("+NEW.\(key)"))]
            + editedReferenceDeletions
    }

    var deletion: [String] { [Self.count] + deletedValues + deletionEntries }

    /// The statements that record the base values of a deleted row, and the values of its edited columns.
    var deletedValues: [String] {
        table.columns.flatMap { column in
            [deletedValue(column), base(column, "OLD", "OLD", isKnown("OLD"), edits: false)]
        }
    }

    /// The statements that record a deletion, after ``deletedValues``.
    var deletionEntries: [String] {
        let isUnsent =
            "\(isRow("OLD")) AND \"creation_id\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"sync_request\" WHERE \(isRow("OLD")))"
        let preserved = moves(from: "+OLD.\(key)", to: deletedName)
        return links("OLD", "NOT \(isKnown("OLD"))")
            + [
                """
                INSERT INTO "sync_unsent" ("e", "k") SELECT "e", "k" FROM "sync_outbox" WHERE \(isUnsent) ON CONFLICT DO NOTHING
                """,
                """
                DELETE FROM "sync_outbox" WHERE \(isUnsent)
                """,
                // A row to be created again keeps its base values, although it is not in `sync_known`.
                """
                DELETE FROM "sync_base" WHERE \(isRow("OLD")) AND NOT \(isKnown("OLD"))
                  AND NOT EXISTS (SELECT 1 FROM "sync_outbox" WHERE \(isRow("OLD")))
                """,
                "DELETE FROM \"sync_pending\" WHERE \(isPendingOwner("OLD"))",
                """
                INSERT INTO "sync_outbox" ("e", "k", "kind", "seq")
                SELECT \(table.number), OLD.\(key), 'delete', (SELECT "seq" FROM "sync_engine")
                WHERE \(isKnown("OLD")) OR EXISTS (SELECT 1 FROM "sync_outbox" WHERE \(isRow("OLD")))
                ON CONFLICT DO UPDATE SET "kind" = 'delete', \(EngineLedger.edited(state: "'ready'"))
                """,
            ] + preserved
    }

    /// Returns the statement that records the value of an edited column when its row is deleted. If the row is restored
    /// later, the value is logged as lost.
    private func deletedValue(_ column: TrackedTable.Column) -> String {
        let value = value(of: column, "OLD")
        let isEdited = "(\"value\" IS NOT \(value) COLLATE BINARY)"
        return """
            UPDATE "sync_base" SET "is_held" = \(isEdited), "held" = CASE WHEN \(isEdited) THEN \(value) END
            WHERE \(isRow("OLD")) AND "field" = \(column.name.literal)
            """
    }

    /// Returns statements that record the values of known rows that `REPLACE` may delete through one of the indexes. If
    /// such a row is not deleted, the engine later finds no difference.
    func replaced(_ indexes: [[String]]) -> [String] {
        indexes.flatMap { columns -> [String] in
            let isKey = columns == [table.table.keyColumn]
            let match = columns.map { "r.\($0.quoted) = NEW.\($0.quoted)" }.joined(separator: " AND ")
            let rows =
                "FROM \(table.table.name.quoted) AS r WHERE \(match)" + (isKey ? "" : " AND r.\(key) IS NOT NEW.\(key)")
                + table.isOwn("r")
                + " AND EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"k\" = +r.\(key))"
            return [
                """
                INSERT INTO "sync_outbox" ("e", "k", "kind", "seq")
                SELECT \(table.number), r.\(key), 'update', (SELECT "seq" FROM "sync_engine") \(rows) ON CONFLICT DO NOTHING
                """
            ]
                + table.columns.map { column in
                    """
                    INSERT INTO "sync_base" ("e", "k", "field", "value", "edited")
                    SELECT \(table.number), r.\(key), \(column.name.literal), \(value(of: column, "r")), \(Database.nowSQL) \(rows)
                    ON CONFLICT DO NOTHING
                    """
                }
        }
    }

    /// Returns statements that delete the recorded join edits of a row if a condition is true.
    func links(_ row: String, _ condition: String = "true") -> [String] {
        table.joinTables.map {
            "DELETE FROM \"sync_link\" WHERE \"link\" = \($0.name.literal) AND \"owner\" = +\(row).\(key) AND \(condition)"
        }
    }

    // MARK: Fragments

    func isRow(_ row: String) -> String { "\"e\" = \(table.number) AND \"k\" = +\(row).\(key)" }

    func isKnown(_ row: String) -> String { isKnown(key: "\(row).\(key)") }

    /// Returns the SQL condition that a row is known. `owner`: the table of the row; nil for this table.
    func isKnown(key: String, of owner: TrackedTable? = nil) -> String {
        "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \((owner ?? table).number) AND \"k\" = +\(key))"
    }

    /// Returns the SQL condition that `sync_known` or `sync_outbox` has an entry for a key.
    func isTracked(_ key: String, of owner: TrackedTable? = nil) -> String {
        let isRow = "\"e\" = \((owner ?? table).number) AND \"k\" = \(key)"
        let tables = ["sync_known", "sync_outbox"].map { "EXISTS (SELECT 1 FROM \($0.quoted) WHERE \(isRow))" }
        return "(\(tables.joined(separator: " OR ")))"
    }

    /// Returns the statement that records a row as updated if a condition is true. `owner`: the table of the row; nil
    /// for this table. `rows`: the SQL of the rows that `key` and `condition` name.
    func touch(_ key: String, _ condition: String, of owner: TrackedTable? = nil, from rows: String = "") -> String {
        """
        INSERT INTO "sync_outbox" ("e", "k", "kind", "seq")
        SELECT \((owner ?? table).number), \(key), 'update', (SELECT "seq" FROM "sync_engine") \(rows)WHERE \(condition)
        ON CONFLICT DO UPDATE SET \(EngineLedger.edited())
        """
    }

    private func base(
        _ column: TrackedTable.Column, _ version: String, _ row: String, _ condition: String, edits: Bool
    ) -> String {
        return """
            INSERT INTO "sync_base" ("e", "k", "field", "value", "edited")
            SELECT \(table.number), \(row).\(key), \(column.name.literal), \(value(of: column, row, version)), \(Database.nowSQL)
            WHERE \(condition)
            ON CONFLICT DO \(edits ? "UPDATE SET \"edited\" = excluded.\"edited\", \"cause\" = 'edit'" : "NOTHING")
            """
    }

    /// Returns the SQL of the base value of a column. If a foreign key has a pending reference, it is the key of the row
    /// that is not stored yet. `version` is the version of the row `row` with the value; nil for `row` itself.
    private func value(of column: TrackedTable.Column, _ row: String, _ version: String? = nil) -> String {
        let value = "\(version ?? row).\(column.name.quoted)"
        guard let relationship = column.relationship else { return value }
        return """
            coalesce((SELECT "target_key" FROM "sync_pending" WHERE "owner_entity" IN (\(family))
              AND "owner_key" = +\(row).\(key) AND "relationship" = \(relationship.literal)), \(value))
            """
    }

    // MARK: Join rows

    func isStored(_ owner: String) -> String {
        "EXISTS (SELECT 1 FROM \(table.table.name.quoted) AS r WHERE r.\(key) = \(owner)\(table.isOwn("r")))"
    }

    /// Returns statements that record the order of a list before its first edit, and the time of each edit. The engine
    /// compares the order when it sends the row, since the edit may have no effect (`OR IGNORE`).
    func order(_ joinTable: TrackedTable.JoinTable, _ row: String) -> [String] {
        let owner = "\(row).\(joinTable.table.mine)"
        let base = "\"e\" = \(table.number) AND \"k\" = +\(owner) AND \"field\" = \(joinTable.field.literal)"
        let isKnown = isKnown(key: owner)
        let isThere = row == "OLD" ? "true" : isStored(owner)
        return [
            "UPDATE \"sync_base\" SET \"edited\" = \(Database.nowSQL) WHERE \(base)",
            """
            INSERT INTO "sync_base" ("e", "k", "field", "value", "edited")
            SELECT \(table.number), \(owner), \(joinTable.field.literal),
              \(TrackedTable.JoinTable.arraySQL(of: joinTable.listSQL(owner))), \(Database.nowSQL)
            WHERE \(isKnown) AND \(isThere) AND NOT EXISTS (SELECT 1 FROM "sync_base" WHERE \(base))
            ON CONFLICT DO NOTHING
            """,
            touch(owner, "\(isKnown) AND \(isStored(owner))"),
        ]
    }
}

// MARK: - Deletions by the engine

extension ChangeCaptureTriggers {
    /// The statements that run when the engine deletes a row and a foreign key of a known row becomes NULL. They are
    /// used if the service does not cascade deletions. The change is sent to the service. Its cause is a cascade, so
    /// another value at the service wins.
    var unlinked: [String] {
        table.columns.filter { $0.destination != nil }.flatMap { column -> [String] in
            let condition =
                "OLD.\(column.name.quoted) IS NOT NULL AND NEW.\(column.name.quoted) IS NULL AND \(isKnown("NEW"))"
            return [
                """
                INSERT INTO "sync_base" ("e", "k", "field", "value", "cause", "edited")
                SELECT \(table.number), NEW.\(key), \(column.name.literal), OLD.\(column.name.quoted), 'cascade', \(Database.nowSQL)
                WHERE \(condition)
                ON CONFLICT DO NOTHING
                """,
                """
                INSERT INTO "sync_outbox" ("e", "k", "kind", "seq", "cause")
                SELECT \(table.number), NEW.\(key), 'update', (SELECT "seq" FROM "sync_engine"), 'cascade'
                WHERE \(condition)
                ON CONFLICT DO NOTHING
                """,
            ]
        }
    }

    /// The reasons to log a row that the engine deletes, each with a condition on `OLD`. At most one condition is true.
    private var engineDeletionReasons: [(condition: String, reason: SyncConflict.Reason)] {
        let isEdited =
            "EXISTS (SELECT 1 FROM \"sync_outbox\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete' AND \"cause\" = 'edit')"
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_outbox\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        let isUntouched = "NOT \(isEdited) AND NOT \(isDeleted)"
        let isPreexisting =
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("OLD")) AND \(KnownRow.isPreexisting))"
        let mayHaveUncapturedEdits =
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("OLD")) AND \(KnownRow.mayHaveUncapturedEdits))"
            + " AND NOT \(isPreexisting) AND \(isUntouched)"
        // A cascade deletes the row, which has no local edits. The service still has the row.
        let wentAlong =
            "\(CaptureSuppression.cascading.isSet) AND \(isKnown("OLD")) AND NOT \(isPreexisting) AND NOT (\(mayHaveUncapturedEdits)) AND \(isUntouched)"
        return [
            (isEdited, .deletedRemotely), ("\(isPreexisting) AND \(isUntouched)", .preexistingMissing),
            (mayHaveUncapturedEdits, .deletedWhileUncaptured),
        ]
            + (table.registration.sendsCascades ? [(wentAlong, .cascaded)] : [])
    }

    /// Returns the SQL of a reference for the log: the name of the referenced row if it has a surrogate key, which SQLite
    /// may give to another row.
    private func named(_ value: String, _ destination: TableID?) -> String {
        let numbers = tables.filter { $0.entity.table == destination && $0.key.isSurrogate }.map { "\($0.number)" }
        guard !numbers.isEmpty else { return value }
        let name =
            "SELECT \"name\" FROM \"sync_known\" WHERE \"e\" IN (\(numbers.joined(separator: ", "))) AND \"k\" = \(value)"
        return "coalesce((\(name)), \(value))"
    }

    /// Returns the statement that copies a join row to `sync_parting` when the join row is removed while the engine
    /// deletes rows. A join row is deleted before its owner. When the owner is deleted, ``engineDeletion`` logs the
    /// list from `sync_parting`.
    func engineJoinRowDeletion(_ joinTable: TrackedTable.JoinTable) -> String {
        let (owner, other) = ("OLD.\(joinTable.table.mine)", "OLD.\(joinTable.table.other)")
        let position = joinTable.table.position.map { "OLD.\($0)" } ?? "NULL"
        return """
            INSERT INTO "sync_parting" ("list", "owner", "other", "place")
            VALUES (\(joinTable.field.literal), \(owner), \(named("+\(other)", joinTable.destination)), \(position))
            ON CONFLICT DO UPDATE SET "place" = excluded."place"
            """
    }

    private var loggedLists: [String] {
        table.joinTables.flatMap { joinTable -> [String] in
            let list = """
                SELECT "other" AS k, "place" FROM "sync_parting"
                WHERE "list" = \(joinTable.field.literal) AND "owner" = +OLD.\(key)
                UNION ALL SELECT "target_key", "position" FROM "sync_pending"
                WHERE \(isPendingOwner("OLD")) AND "relationship" = \(joinTable.relationship.literal)
                """
            let position = joinTable.table.position == nil ? nil : "\"place\""
            let order = SQLiteDialect().linkOrder(position: position, key: "k")
            return engineDeletionReasons.map { condition, reason in
                """
                INSERT INTO "sync_conflict" ("at", "e", "k", "field", "base", "local", "remote", "winner", "reason")
                SELECT \(Database.nowSQL), \(table.number), OLD.\(key), \(joinTable.field.literal), NULL,
                  \(TrackedTable.JoinTable.arraySQL(of: "SELECT k FROM (\(list)) ORDER BY \(order)")), NULL, 'remote',
                  \(reason.code.literal)
                WHERE \(condition) AND EXISTS (\(list))
                """
            }
        }
    }

    /// The statements that run when the engine deletes a row. If the row is logged, they log all its columns and lists.
    /// Then they delete its change, base values, join edits and known version. A pending local deletion keeps the
    /// change, the base values and the known version.
    var engineDeletion: [String] {
        let isDeleted = "EXISTS (SELECT 1 FROM \"sync_outbox\" WHERE \(isRow("OLD")) AND \"kind\" = 'delete')"
        // The service may never have had these values.
        let isUnconfirmed = """
            EXISTS (SELECT 1 FROM "sync_known"
              WHERE \(isRow("OLD")) AND (\(KnownRow.isPreexisting) OR \(KnownRow.mayHaveUncapturedEdits)))
            """
        let log = table.columns.flatMap { column -> [String] in
            let value = named(value(of: column, "OLD"), column.destination)
            let base =
                "SELECT \"value\" FROM \"sync_base\" WHERE \(isRow("OLD")) AND \"field\" = \(column.name.literal)"
            return engineDeletionReasons.map { condition, reason in
                """
                INSERT INTO "sync_conflict" ("at", "e", "k", "field", "base", "local", "remote", "winner", "reason")
                SELECT \(Database.nowSQL), \(table.number), OLD.\(key), \(column.name.literal),
                  CASE WHEN EXISTS (\(base)) THEN \(named("(\(base))", column.destination))
                    WHEN \(isKnown("OLD")) AND NOT \(isUnconfirmed) THEN \(value) END,
                  \(value), NULL, 'remote', \(reason.code.literal) WHERE \(condition)
                """
            }
        }
        // A service that does not cascade still has a row that a cascade deleted locally. Its deletion is sent.
        let sent =
            table.registration.sendsCascades
            ? [
                """
                INSERT INTO "sync_outbox" ("e", "k", "kind", "seq", "cause")
                SELECT \(table.number), OLD.\(key), 'delete', (SELECT "seq" FROM "sync_engine"), 'cascade'
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
            "DELETE FROM \"sync_outbox\" WHERE \(isRow("OLD")) AND \"kind\" <> 'delete'",
        ] + links("OLD") + linkedRowDeletions(of: "OLD.\(key)") + sent
            // SQLite may give the surrogate key to another row, so base values of references name the deleted row.
            + referenceMoves(from: "+OLD.\(key)", to: deletedName) + [
                "DELETE FROM \"sync_known\" WHERE \(isRow("OLD")) AND NOT \(isDeleted)"
            ]
            + moves(from: "+OLD.\(key)", to: deletedName)
    }
}
