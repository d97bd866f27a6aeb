import GRDB
import SyncCore
import SyncStore

// References to rows with surrogate keys. A foreign key or join row has the surrogate key. That key stays the same when
// the key of its row changes, and SQLite may give the key of a deleted row to another row. So base values, join edits
// and sent values name the former row (see `TrackedKey`).
extension ChangeCaptureTriggers {
    /// A foreign key column of a registered table that references this table.
    struct ReferencingColumn {
        let owner: TrackedTable
        let column: TrackedTable.Column
        let isKeyPart: Bool

        /// Returns the foreign keys of registered tables that reference a table.
        static func all(of tables: [TrackedTable], to table: TrackedTable, _ model: CompiledModel) -> [Self] {
            tables.flatMap { owner in
                owner.columns.compactMap { column -> Self? in
                    guard column.destination == table.entity.table, case .toOne(let id) = column.field else {
                        return nil
                    }
                    return Self(owner: owner, column: column, isKeyPart: model[id].isKeyPart)
                }
            }
        }
    }

    /// The lists of registered tables that contain rows of this table.
    private var listsOfRows: [(owner: TrackedTable, list: TrackedTable.JoinTable)] {
        tables.flatMap { owner in
            owner.joinTables.filter { $0.destination == table.entity.table }.map { (owner, $0) }
        }
    }

    // MARK: Changes of keys

    /// The statements that run before the key of a row changes from `OLD` to `NEW`. They record that the rows that
    /// reference it referenced the former row.
    var formerReferences: [String] {
        guard table.key.isSurrogate else { return [] }
        return [Self.count] + referencingColumns.flatMap(edit) + listsOfRows.flatMap { edits($0, "OLD", -1) }
            + referenceMoves(from: "+OLD.\(key)", to: deletedName)
    }

    /// The statements that run after the key of a row changed. They record that lists contain the new row, and that the
    /// rows with these lists are edited.
    var newReferences: [String] {
        guard table.key.isSurrogate else { return [] }
        return listsOfRows.flatMap { edits($0, "NEW", 1) + [touch($0.owner, ofListsWithRow: $0.list)] }
    }

    /// Returns the statements that record a foreign key of the referencing rows as edited. Rows whose key has this
    /// foreign key are deleted and created instead, see ``dependentUpdates``.
    private func edit(_ reference: ReferencingColumn) -> [String] {
        guard !reference.isKeyPart else { return [] }
        let (owner, column) = (reference.owner, reference.column)
        let row = "r.\(owner.keySQL)"
        let isOther = owner.entity.table == table.entity.table ? " AND \(row) IS NOT NEW.\(key)" : ""
        let isReferencing = "r.\(column.sql) = NEW.\(key)\(isOther)\(owner.isOwn("r"))"
        let isRestored = LocalEditTimes.isRestored("\"e\" = \(owner.number) AND \"k\" = +\(row)")
        return [
            """
            INSERT INTO "sync_base" ("e", "k", "field", "value", "edited")
            SELECT \(owner.number), \(row), \(column.name.literal), OLD.\(key), \(Database.nowSQL) FROM \(owner.sql) AS r
            WHERE \(isReferencing) AND (\(isKnown(key: row, of: owner)) OR \(isRestored))
            ON CONFLICT DO UPDATE SET "edited" = excluded."edited", "cause" = 'edit'
            """,
            touch(
                row, "\(isReferencing) AND \(isTracked("+\(row)", of: owner))", of: owner,
                from: "FROM \(owner.sql) AS r "),
        ]
    }

    /// Returns the statements that record join rows as added (`op` 1) or removed (`op` -1). An edit and the opposite
    /// edit cancel each other.
    private func edits(
        _ reference: (owner: TrackedTable, list: TrackedTable.JoinTable), _ version: String, _ op: Int
    ) -> [String] {
        let (list, other) = (reference.list, "\(version).\(key)")
        let owners = "FROM \(list.table.table) AS p WHERE \(isJoinRow(reference.owner, list))"
        let isOpposite = "\"link\" = \(list.name.literal) AND \"other\" = +\(other) AND \"op\" = \(-op)"
        return [
            """
            INSERT INTO "sync_link" ("link", "owner", "other", "op", "edited")
            SELECT \(list.name.literal), p.\(list.table.mine), \(other), \(op), \(Database.nowSQL) \(owners)
              AND NOT EXISTS (SELECT 1 FROM "sync_link" WHERE \(isOpposite) AND "owner" = +p.\(list.table.mine))
            ON CONFLICT DO UPDATE SET "edited" = excluded."edited"
            """,
            "DELETE FROM \"sync_link\" WHERE \(isOpposite) AND \"owner\" IN (SELECT p.\(list.table.mine) \(owners))",
        ]
    }

    /// Returns the SQL condition that a join row `p` links the row to a stored row of the entity.
    private func isJoinRow(_ owner: TrackedTable, _ list: TrackedTable.JoinTable) -> String {
        """
        p.\(list.table.other) = NEW.\(key) AND EXISTS (
          SELECT 1 FROM \(owner.sql) AS r WHERE r.\(owner.keySQL) = p.\(list.table.mine)\(owner.isOwn("r")))
        """
    }

    private func touch(_ owner: TrackedTable, ofListsWithRow list: TrackedTable.JoinTable) -> String {
        let row = "p.\(list.table.mine)"
        return touch(
            row, "\(isJoinRow(owner, list)) AND \(isTracked("+\(row)", of: owner))", of: owner,
            from: "FROM \(list.table.table) AS p ")
    }

    // MARK: Keys in entries

    /// Returns statements that replace the key of a row in references to it: join edits, base values and sent values of
    /// foreign keys, and sent lists. None if the table has no surrogate key. See ``EntryMove/statements(from:to:if:)``.
    func referenceMoves(from old: String, to new: String, if condition: String = "true") -> [String] {
        guard table.key.isSurrogate else { return [] }
        // The base value of a key part stays: the trigger of the referencing row records it after this trigger.
        return referencingColumns.filter { !$0.isKeyPart }.flatMap { valueMoves(of: $0, old, new, condition) }
            + listsOfRows.flatMap { owner, list in
                joinEditMoves("other", identifiedWith: "owner", of: [list.name], old, new, condition)
                    + sentListMoves(of: owner, list, old, new, condition)
            }
    }

    private func valueMoves(
        of reference: ReferencingColumn, _ old: String, _ new: String, _ condition: String
    ) -> [String] {
        let (number, field) = (reference.owner.number, reference.column.name.literal)
        // A trigger cannot name the index in an UPDATE.
        let isEdited = """
            "e" = \(number) AND "field" = \(field) AND "k" IN (
              SELECT b."k" FROM "sync_base" AS b INDEXED BY "sync_base_value"
              WHERE b."e" = \(number) AND b."field" = \(field) AND \(EngineSchema.isBase("b", old)))
            """
        let sent = sentValues(of: reference.owner).map { name, isOwn in
            (name, "\(isOwn) AND \"field\" = \(field) AND \"value\" = \(old)")
        }
        return ([("sync_base", isEdited)] + sent).map { name, isOf in
            "UPDATE \(name.quoted) SET \"value\" = \(new) WHERE \(isOf) AND \(condition)"
        }
    }

    private func sentListMoves(
        of owner: TrackedTable, _ list: TrackedTable.JoinTable, _ old: String, _ new: String, _ condition: String
    ) -> [String] {
        sentValues(of: owner).map { name, isOwn in
            let keys = "FROM json_each(\(name.quoted).\"value\") AS l"
            return """
                UPDATE \(name.quoted) SET "value" = (
                  SELECT json_group_array(CASE WHEN l."value" IS \(old) THEN \(new) ELSE l."value" END) \(keys))
                WHERE \(isOwn) AND "field" = \(list.field.literal) AND EXISTS (SELECT 1 \(keys) WHERE l."value" IS \(old))
                  AND \(condition)
                """
        }
    }

    /// Returns the tables with sent values, each with the SQL condition that a value belongs to an entity.
    private func sentValues(of owner: TrackedTable) -> [(name: String, isOwn: String)] {
        [
            ("sync_sent", "\"request\" IN (SELECT \"id\" FROM \"sync_request\" WHERE \"e\" = \(owner.number))"),
            ("sync_tried", "\"e\" = \(owner.number)"),
        ]
    }

    /// Returns statements that replace the key in a column of join edits.
    func joinEditMoves(
        _ column: String, identifiedWith other: String, of links: [String], _ old: String, _ new: String,
        _ condition: String
    ) -> [String] {
        links.flatMap { link in
            EntryMove(table: "sync_link", column: column, scope: "\"link\" = \(link.literal)", identity: [other])
                .statements(from: old, to: new, if: condition)
        }
    }

    /// Returns statements that delete the join edits whose linked row the engine deletes; none if the table has no
    /// surrogate key.
    func linkedRowDeletions(of key: String) -> [String] {
        guard table.key.isSurrogate else { return [] }
        return listsOfRows.map { _, list in
            "DELETE FROM \"sync_link\" WHERE \"link\" = \(list.name.literal) AND \"other\" = +\(key)"
        }
    }
}

// MARK: - Pending references

// A foreign key overrides a pending reference that is older than its value.
extension ChangeCaptureTriggers {
    /// The SQL condition that a pending reference belongs to a version of the row.
    func isPendingOwner(_ row: String) -> String {
        "\"owner_entity\" IN (\(family)) AND \"owner_key\" = +\(row).\(key)"
    }

    /// The statements that delete the pending references of edited foreign keys.
    var editedReferenceDeletions: [String] { pendingReferenceDeletions { differs($0.name) } }

    /// The statements that delete the pending references of an inserted row's foreign keys. `REPLACE` deletes a row
    /// without its pending references.
    var replacedReferenceDeletions: [String] { pendingReferenceDeletions { "NEW.\($0.name.quoted) IS NOT NULL" } }

    private func pendingReferenceDeletions(if condition: (TrackedTable.Column) -> String) -> [String] {
        table.columns.compactMap { column in
            guard let relationship = column.relationship else { return nil }
            return """
                DELETE FROM "sync_pending" WHERE \(condition(column)) AND \(isPendingOwner("NEW"))
                  AND "relationship" = \(relationship.literal)
                """
        }
    }

    /// The statements that move pending references of a row to its new key. The pending references of a row that
    /// `REPLACE` deleted are deleted.
    var movedPendingReferences: [String] {
        let move = EntryMove(
            table: "sync_pending", column: "owner_key", scope: "\"owner_entity\" IN (\(family))",
            identity: ["owner_entity", "relationship", "target_key", "target_entity"])
        return ["DELETE FROM \"sync_pending\" WHERE \(differs(table.table.keyColumn)) AND \(isPendingOwner("NEW"))"]
            + move.statements(from: "+OLD.\(key)", to: "NEW.\(key)") + editedReferenceDeletions
    }
}

// MARK: - Surrogate keys

// If a row with a surrogate key is deleted, its entries are kept under its name (see `TrackedKey`). SQLite may reuse
// the surrogate key.
extension ChangeCaptureTriggers {
    /// The SQL conditions that the key of a row changed although its own columns did not. One of them is sufficient. If
    /// the key of a row contains the key of another row, the two keys change together.
    var isRenamed: [String] {
        guard table.key.isSurrogate, table.key.hasParts else { return [] }
        let name = table.key.name(of: "NEW")
        return [
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))",
            // Another known row, which is deleted, has the same name.
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name) AND \"k\" IS NOT NEW.\(key))",
        ]
    }

    /// The SQL of the name of a deleted row: its recorded name, or a placeholder if no name is recorded. The trigger
    /// cannot compute the name, since rows whose keys are part of it may already be deleted.
    var deletedName: String {
        """
        coalesce((SELECT "name" FROM "sync_known" WHERE \(isRow("OLD"))),
          'gone ' || OLD.\(key) || ' ' || (SELECT "seq" FROM "sync_engine"))
        """
    }

    /// The statements that correct entries when a row is inserted. If SQLite reused a surrogate key, they move the
    /// entries of the former row to its name. If a deleted row had the same name as the inserted row, they move its
    /// entries to the new surrogate key.
    var reinsertion: [String] {
        guard table.key.isSurrogate else { return [] }
        let name = table.key.name(of: "NEW")
        let other = "(SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))"
        let known =
            "coalesce((SELECT \"k\" FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name)), \(name))"
        let (new, isOther) = ("+NEW.\(key)", "\(other) IS NOT NULL")
        return referenceMoves(from: new, to: other, if: isOther) + moves(from: new, to: other, if: isOther)
            + referenceMoves(from: known, to: new) + moves(from: known, to: new)
    }
}
