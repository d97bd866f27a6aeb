import GRDB
import SyncCore
import SyncStore

/// Generates the triggers that record edits of one registered table, in the transaction of the writer. The triggers do
/// not record writes of the engine as edits.
///
/// Inserts of edits use upsert clauses because the conflict clause of the firing statement does not override them. For
/// changes of keys see ``EntryMove``. Keys are compared as `k = +NEW.id`. Without the `+`, the affinity of the column
/// would prevent SQLite from using the index.
struct ChangeCaptureTriggers {
    let table: TrackedTable
    let key: String
    /// The columns of unique indexes of the table. See ``UniqueColumns``. `REPLACE` may delete a row with the same
    /// values in such an index, and by default fires no delete trigger.
    private let uniqueColumns: [[String]]
    private let isRowID: Bool
    private let family: String
    /// The foreign key columns of registered tables that reference this table and are part of a key. When the
    /// referenced key changes, such a key changes too.
    let dependents: [(table: String, column: String)]
    /// The generator of the SQL that replaces surrogate keys of this table in recorded join edits.
    let named: JoinEditRekeying

    init(_ table: TrackedTable, uniqueColumns: [[String]], among tables: [TrackedTable], _ layout: StoreLayout) {
        let model = layout.model
        dependents = model.links.compactMap { link in
            guard link.isKeyPart, link.second.table == table.entity.table,
                tables.contains(where: { $0.entity.table == link.first.table }),
                case .foreignKey(let owner, let column, _) = layout[link.id]
            else { return nil }
            return (owner, column)
        }
        named = JoinEditRekeying(table, among: tables)
        self.table = table
        key = table.table.keyColumn.quoted
        self.uniqueColumns = uniqueColumns
        isRowID = SchemaSQL.keyType(model[table.entity.table]) == "INTEGER"
        family = table.family
    }

    var statements: [String] {
        let (isOld, isNew) = (table.isOwn("OLD"), table.isOwn("NEW"))
        let hasOtherKey = "(\((table.key.ownColumns.map(differs) + isRenamed).joined(separator: " OR ")))"
        var triggers = [
            trigger(
                "replace", "BEFORE INSERT", when: Self.isCapturing, replaced(uniqueColumns + [[table.table.keyColumn]])),
            trigger("insert", "AFTER INSERT", when: Self.isCapturing + isNew, insertion),
            trigger(
                "delete", "AFTER DELETE", when: Self.isCapturing + isOld,
                named.others(from: "+OLD.\(key)", to: deletedName) + deletion),
            trigger("leave", "AFTER DELETE", when: "NOT \(Self.isCapturing)\(isOld)", engineDeletion),
            trigger(
                "key", "AFTER UPDATE OF \(keyNames)", when: "\(Self.isCapturing) AND \(hasOtherKey)\(isOld)\(isNew)",
                movedPendingReferences + deletion + insertion + dependentUpdates + movedUnreadableValues),
        ]
        if !table.columns.isEmpty {
            let isEdit = table.columns.map { differs($0.name) }.joined(separator: " OR ")
            triggers.append(
                trigger(
                    "update", "AFTER UPDATE",
                    when: "\(Self.isCapturing) AND NOT \(hasOtherKey) AND (\(isEdit))\(isOld)\(isNew)", update))
        }
        if table.registration.sendsCascades, !unlinked.isEmpty {
            let columns = table.columns.filter { $0.destination != nil }.map(\.name.quoted).joined(separator: ", ")
            triggers.append(
                trigger(
                    "unlink", "AFTER UPDATE OF \(columns)",
                    when: "\(CaptureSuppression.cascading.isSet)\(isOld)\(isNew)",
                    unlinked))
        }
        if table.key.isSurrogate {
            triggers.append(
                trigger(
                    "renumber", "AFTER UPDATE", when: "OLD.\(key) IS NOT NEW.\(key)\(isOld)",
                    moves(from: "+OLD.\(key)", to: "NEW.\(key)")
                        + named.others(from: "+OLD.\(key)", to: "NEW.\(key)")))
        }
        if table.isPart {
            // Record a change of entity as a deletion from the former entity and an insertion into the new entity.
            let column = TableLayout.entityColumn.quoted
            triggers += [("OLD", "NEW", deletion), ("NEW", "OLD", insertion)].map { own, other, body in
                trigger(
                    "kind_\(own)", "AFTER UPDATE OF \(column)",
                    when: "\(Self.isCapturing)\(table.isOwn(own)) AND NOT (true\(table.isOwn(other)))", body)
            }
        }
        if !table.key.isSurrogate {
            triggers.append(
                trigger(
                    "displace_key", "BEFORE UPDATE OF \(keyNames)", when: "\(Self.isCapturing) AND \(hasOtherKey)",
                    replaced([[table.table.keyColumn]])))
        }
        if !uniqueColumns.isEmpty {
            let columns = Set(uniqueColumns.joined()).sorted().map(\.quoted).joined(separator: ", ")
            triggers.append(
                trigger("displace", "BEFORE UPDATE OF \(columns)", when: Self.isCapturing, replaced(uniqueColumns)))
        }
        return triggers + table.joinTables.flatMap(joinTableTriggers)
    }

    // MARK: Rows

    private var insertion: [String] {
        [Self.count] + reinsertion + [
            """
            INSERT INTO "sync_change" ("e", "k", "kind", "birth", "seq")
            SELECT \(table.number), NEW.\(key), CASE WHEN \(isKnown("NEW")) THEN 'update' ELSE 'create' END,
              CASE WHEN \(isKnown("NEW")) THEN NULL ELSE lower(hex(randomblob(16))) END, (SELECT "seq" FROM "sync_engine")
            WHERE NEW.\(key) IS NOT NULL
            ON CONFLICT DO UPDATE SET "kind" = CASE WHEN "birth" IS NULL THEN 'update' ELSE 'create' END,
              "seq" = excluded."seq", "state" = \(Self.readyUnlessConflicted), "reason" = NULL, "rounds" = 0
            """,
            "DELETE FROM \"sync_made\" WHERE \(isRow("NEW"))",
            """
            INSERT INTO "sync_made" ("e", "k", "domain", "edited")
            SELECT \(table.number), NEW.\(key), '', \(Self.now) WHERE NEW.\(key) IS NOT NULL AND NOT \(isKnown("NEW"))
            ON CONFLICT DO NOTHING
            """,
        ]
    }

    /// The statement that records when columns of a row outside `sync_known` are set. For rows in `sync_known`, the
    /// base values have these times.
    private var times: String {
        let columns = table.columns.map { "(\($0.name.literal), \(differs($0.name)))" }.joined(separator: ", ")
        return """
            INSERT INTO "sync_made" ("e", "k", "domain", "edited")
            SELECT \(table.number), NEW.\(key), "column1", \(Self.now) FROM (VALUES \(columns))
            WHERE "column2" AND NOT \(isKnown("NEW"))
            ON CONFLICT DO UPDATE SET "edited" = excluded."edited"
            """
    }

    /// The statements that move unreadable remote values to the new key of a row.
    private var movedUnreadableValues: [String] {
        EntryMove.ofRow(in: "sync_unread", table.number).statements(from: "+OLD.\(key)", to: "NEW.\(key)")
    }

    /// The statements that move pending references of a row to its new key.
    private var movedPendingReferences: [String] {
        EntryMove(
            table: "sync_pending", column: "owner_key", scope: "\"owner_entity\" IN (\(family))",
            identity: ["owner_entity", "relationship", "target_key", "target_entity"]
        ).statements(from: "+OLD.\(key)", to: "NEW.\(key)")
    }

    private func isPendingOwner(_ row: String) -> String {
        "\"owner_entity\" IN (\(family)) AND \"owner_key\" = +\(row).\(key)"
    }

    private var update: [String] {
        let bases = table.columns.map { column -> String in
            // A row to be created again (see `LocalEditTimes.isRestored`) has base values although it is not in
            // `sync_known`.
            let condition =
                "\(differs(column.name)) AND (\(isKnown("NEW")) OR \(LocalEditTimes.isRestored(isRow("NEW"))))"
            return base(column, "OLD", "NEW", condition, edits: true)
        }
        let references = table.columns.compactMap { column -> String? in
            guard let relationship = column.relationship else { return nil }
            return """
                DELETE FROM "sync_pending" WHERE \(differs(column.name)) AND "owner_entity" IN (\(family))
                  AND "owner_key" = +NEW.\(key) AND "relationship" = \(relationship.literal)
                """
        }
        // If a row references itself, a key change updates the foreign key before the trigger records the key change.
        // So the new key may not be tracked yet.
        return [Self.count] + bases + [times, touch("NEW.\(key)", isTracked("+NEW.\(key)"))] + references
    }

    private var deletion: [String] {
        let isUnsent =
            "\(isRow("OLD")) AND \"birth\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"sync_request\" WHERE \(isRow("OLD")))"
        let bases = table.columns.flatMap { column in
            [deletedValue(column), base(column, "OLD", "OLD", isKnown("OLD"), edits: false)]
        }
        let preserved = moves(from: "+OLD.\(key)", to: deletedName)
        return [Self.count] + bases + links("OLD", "NOT \(isKnown("OLD"))")
            + [
                """
                INSERT INTO "sync_unsent" ("e", "k") SELECT "e", "k" FROM "sync_change" WHERE \(isUnsent) ON CONFLICT DO NOTHING
                """,
                """
                DELETE FROM "sync_change" WHERE \(isUnsent)
                """,
                // A row to be created again keeps its base values, although it is not in `sync_known`.
                """
                DELETE FROM "sync_base" WHERE \(isRow("OLD")) AND NOT \(isKnown("OLD"))
                  AND NOT EXISTS (SELECT 1 FROM "sync_change" WHERE \(isRow("OLD")))
                """,
                "DELETE FROM \"sync_pending\" WHERE \(isPendingOwner("OLD"))",
                """
                INSERT INTO "sync_change" ("e", "k", "kind", "seq")
                SELECT \(table.number), OLD.\(key), 'delete', (SELECT "seq" FROM "sync_engine")
                WHERE \(isKnown("OLD")) OR EXISTS (SELECT 1 FROM "sync_change" WHERE \(isRow("OLD")))
                ON CONFLICT DO UPDATE SET "kind" = 'delete', "seq" = excluded."seq", "state" = 'ready', "reason" = NULL, "rounds" = 0
                """,
            ] + preserved
    }

    /// Returns the statement that records the value of an edited column when its row is deleted. If the row is restored
    /// later, the value is logged as lost.
    private func deletedValue(_ column: TrackedTable.Column) -> String {
        let value = "OLD.\(column.name.quoted)"
        return """
            INSERT INTO "sync_base" ("e", "k", "domain", "value", "edited")
            SELECT \(table.number), OLD.\(key), \(DeletedValues.field(column.name).literal), \(value), \(Self.now)
            WHERE EXISTS (SELECT 1 FROM "sync_base" WHERE \(isRow("OLD")) AND "domain" = \(column.name.literal)
              AND "value" IS NOT \(value) COLLATE BINARY)
            ON CONFLICT DO UPDATE SET "value" = excluded."value"
            """
    }

    /// Returns statements that record the values of known rows that `REPLACE` may delete through one of the indexes. If
    /// such a row is not deleted, the engine later finds no difference.
    private func replaced(_ indexes: [[String]]) -> [String] {
        indexes.flatMap { columns -> [String] in
            let isKey = columns == [table.table.keyColumn]
            let match = columns.map { "r.\($0.quoted) = NEW.\($0.quoted)" }.joined(separator: " AND ")
            let rows =
                "FROM \(table.table.name.quoted) AS r WHERE \(match)" + (isKey ? "" : " AND r.\(key) IS NOT NEW.\(key)")
                + table.isOwn("r")
                + " AND EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"k\" = +r.\(key))"
            return [
                """
                INSERT INTO "sync_change" ("e", "k", "kind", "seq")
                SELECT \(table.number), r.\(key), 'update', (SELECT "seq" FROM "sync_engine") \(rows) ON CONFLICT DO NOTHING
                """
            ]
                + table.columns.map { column in
                    """
                    INSERT INTO "sync_base" ("e", "k", "domain", "value", "edited")
                    SELECT \(table.number), r.\(key), \(column.name.literal), r.\(column.name.quoted), \(Self.now) \(rows)
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

    // MARK: SQL

    /// The SQL condition that writes are captured: no mode of ``CaptureSuppression`` is set.
    static let isCapturing = "NOT EXISTS (SELECT 1 FROM \"sync_mute\")"
    static let now = "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)"
    static let count = "UPDATE \"sync_engine\" SET \"seq\" = \"seq\" + 1"
    /// The SQL of the state of a change after an edit. The edit unblocks the change, but does not resolve an open
    /// conflict.
    private static let readyUnlessConflicted = "CASE \"state\" WHEN 'conflicted' THEN 'conflicted' ELSE 'ready' END"

    /// The SQL list of the key columns. For an integer key it includes `rowid` and its synonyms, by which SQLite also
    /// updates the key.
    private var keyNames: String {
        (table.key.ownColumns + (isRowID && !table.key.isSurrogate ? ["rowid", "oid", "_rowid_"] : [])).map(\.quoted)
            .joined(separator: ", ")
    }

    func isRow(_ row: String) -> String { "\"e\" = \(table.number) AND \"k\" = +\(row).\(key)" }

    func isKnown(_ row: String) -> String { isKnown(key: "\(row).\(key)") }

    func isKnown(key: String) -> String {
        "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"k\" = +\(key))"
    }

    /// Returns the SQL condition that `sync_known` or `sync_change` has an entry for a key.
    func isTracked(_ key: String) -> String {
        let isRow = "\"e\" = \(table.number) AND \"k\" = \(key)"
        let tables = ["sync_known", "sync_change"].map { "EXISTS (SELECT 1 FROM \($0.quoted) WHERE \(isRow))" }
        return "(\(tables.joined(separator: " OR ")))"
    }

    private func differs(_ column: String) -> String {
        "OLD.\(column.quoted) IS NOT NEW.\(column.quoted) COLLATE BINARY"
    }

    func touch(_ owner: String, _ condition: String) -> String {
        """
        INSERT INTO "sync_change" ("e", "k", "kind", "seq")
        SELECT \(table.number), \(owner), 'update', (SELECT "seq" FROM "sync_engine") WHERE \(condition)
        ON CONFLICT DO UPDATE SET "seq" = excluded."seq", "state" = \(Self.readyUnlessConflicted), "reason" = NULL, "rounds" = 0
        """
    }

    private func base(
        _ column: TrackedTable.Column, _ version: String, _ row: String, _ condition: String, edits: Bool
    ) -> String {
        var value = "\(version).\(column.name.quoted)"
        if let relationship = column.relationship {
            // If the foreign key has a pending reference, its base value is the key of the row that is not stored yet.
            value = """
                coalesce((SELECT "target_key" FROM "sync_pending" WHERE "owner_entity" IN (\(family))
                  AND "owner_key" = +\(row).\(key) AND "relationship" = \(relationship.literal)), \(value))
                """
        }
        return """
            INSERT INTO "sync_base" ("e", "k", "domain", "value", "edited")
            SELECT \(table.number), \(row).\(key), \(column.name.literal), \(value), \(Self.now) WHERE \(condition)
            ON CONFLICT DO \(edits ? "UPDATE SET \"edited\" = excluded.\"edited\"" : "NOTHING")
            """
    }

    private func trigger(_ name: String, _ event: String, when condition: String, _ body: [String]) -> String {
        let owner = table.isPart ? table.entity.name : table.table.name
        return Self.trigger("\(owner)_\(name)", event, on: table.table.name, when: condition, body)
    }

    static func trigger(
        _ name: String, _ event: String, on table: String, when condition: String, _ body: [String]
    ) -> String {
        TriggerSQL.create(
            EngineSchema.triggerPrefix + name, event, on: table, when: condition, body.map { $0 + ";" })
    }
}
