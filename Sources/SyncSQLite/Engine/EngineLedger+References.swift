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

    /// Returns the locally deleted rows whose foreign key references a row at the service.
    func deletedRows(
        of table: TrackedTable, referencing owner: DatabaseValue, in column: TrackedTable.Column
    ) throws -> [DatabaseValue] {
        try db.values(
            """
            SELECT b.k FROM sync_base AS b INDEXED BY sync_base_value CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE b.e = ?1 AND b.field = ?2 AND \(EngineSchema.isBase("b", "?3")) AND c.kind = 'delete'
            """, table.number, column.name, owner)
    }

    /// Returns the values of a foreign key of rows that were created or edited locally.
    func referencesOfChangedRows(of table: TrackedTable, in column: TrackedTable.Column) throws -> [DatabaseValue] {
        try db.values(
            """
            SELECT DISTINCT r.\(column.sql) FROM sync_outbox AS c CROSS JOIN \(table.sql) AS r ON r.\(table.keySQL) = +c.k
            WHERE c.e = ? AND c.kind <> 'delete' AND r.\(column.sql) NOTNULL
            """, table.number)
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

// Edits of one-to-one references.
extension EngineLedger {
    /// A row whose edited reference, or whose reference as a new row, is to be sent.
    struct ReferenceEdit {
        let key: DatabaseValue
        let isNew: Bool
    }

    /// Returns the rows that reference a row by an edit.
    func edits(
        of column: TrackedTable.Column, _ table: TrackedTable, referencing target: DatabaseValue
    ) throws -> [ReferenceEdit] {
        try db.rows(
            """
            SELECT c.k, c.kind = 'create' FROM \(table.sql) AS r
            CROSS JOIN sync_outbox AS c ON c.e = :e AND c.k = +r.\(table.keySQL)
            WHERE r.\(column.sql) = :target AND (c.kind = 'create' OR c.kind = 'update' AND EXISTS (
              SELECT 1 FROM sync_base AS b WHERE b.e = c.e AND b.k = c.k AND b.field = :field))
            """, ["e": table.number, "target": target, "field": column.name]
        ).map { ReferenceEdit(key: $0[0], isNew: try $0.decode(atIndex: 1)) }
    }
}

// Pending references that are written by a sync with change capture.
extension EngineLedger {
    /// Returns the entities whose edits triggers capture.
    func capturedEntities() throws -> [(number: Int, name: String)] {
        try db.rows("SELECT e, name FROM sync_entity WHERE triggers <> ''").map {
            (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1))
        }
    }

    func isPending(_ reference: PendingReference, _ layout: StoreLayout) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_pending WHERE owner_entity = ? AND owner_key = ? AND relationship = ?
              AND target_key = ? AND target_entity = ?
            """, layout.model.entities[reference.ownerEntity].name, reference.owner.key.databaseValue,
            reference.relationship, reference.target.databaseValue, layout.model.entities[reference.targetEntity].name)
    }

    // MARK: Foreign keys

    /// Records a foreign key as edited. Its base value is the value that ``FieldReader`` reads.
    func insertEdit(
        of column: String, _ reference: PendingReference, _ number: Int, _ layout: StoreLayout
    ) throws {
        let (table, key) = (layout[reference.owner.table], reference.owner.key.databaseValue)
        let now = try db.now()
        try db.run(
            """
            INSERT INTO sync_base (e, k, field, value, edited)
            SELECT ?1, ?2, ?3, coalesce((
              SELECT target_key FROM sync_pending
              WHERE owner_entity IN (\(layout.entityNames(of: [reference.owner.table]))) AND owner_key = ?2
                AND relationship = ?4), r.\(column.quoted)), ?5
            FROM \(table.sql) AS r
            WHERE r.\(table.keySQL) = ?2 AND (\(Self.isKnown) OR \(LocalEditTimes.isRestored("e = ?1 AND k = ?2")))
            ON CONFLICT DO UPDATE SET edited = excluded.edited, cause = 'edit'
            """, number, key, column, reference.relationship, now)
        try db.run(
            """
            INSERT INTO sync_made (e, k, field, edited)
            SELECT ?1, ?2, ?3, ?4 WHERE NOT \(Self.isKnown) AND \(Self.isChanged)
            ON CONFLICT DO UPDATE SET edited = excluded.edited
            """, number, key, column, now)
        try insertUpdate(ofTracked: key, number)
    }

    private static let isKnown = "EXISTS (SELECT 1 FROM sync_known WHERE e = ?1 AND k = ?2)"
    private static let isChanged = "EXISTS (SELECT 1 FROM sync_outbox WHERE e = ?1 AND k = ?2)"

    /// Records a row as updated by a local edit, if the row is known or has a change.
    func insertUpdate(ofTracked key: DatabaseValue, _ number: Int) throws {
        try increaseEdit()
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, seq)
            SELECT ?1, ?2, 'update', \(Self.currentEdit) WHERE \(Self.isKnown) OR \(Self.isChanged)
            ON CONFLICT DO UPDATE SET \(Self.edited())
            """, number, key)
    }

    // MARK: Lists

    /// Records an element of a list as added or removed. An edit and the opposite edit cancel each other.
    func insertEdit(
        ofList name: String, _ owner: DatabaseValue, other: DatabaseValue, isAdded: Bool
    ) throws {
        let op = isAdded ? 1 : -1
        try db.run(
            "DELETE FROM sync_link WHERE link = ? AND owner = ? AND other = ? AND op = ?", name, owner, other, -op)
        guard db.changesCount == 0 else { return }
        try db.run(
            """
            INSERT INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET edited = excluded.edited
            """, name, owner, other, op, db.now())
    }
}

// Updates of rows that are sent because a referenced row has another ID, is created again, or was deleted.
extension EngineLedger {
    /// Records updates of the known rows with a foreign key to a row. At the service, these rows have the reference
    /// `old`, which is NULL for none.
    func insertUpdates(
        ofRowsReferencing new: DatabaseValue, formerly old: DatabaseValue, in column: TrackedTable.Column,
        of table: TrackedTable
    ) throws {
        let key = "r.\(table.keySQL)"
        let rows = """
            FROM \(table.sql) AS r WHERE r.\(column.sql) = ?\(table.isOwn("r"))
              AND EXISTS (SELECT 1 FROM sync_known WHERE e = \(table.number) AND k = +\(key))
            """
        try db.run(
            """
            INSERT INTO sync_base (e, k, field, value, edited) SELECT \(table.number), \(key), ?, ?, ? \(rows)
            ON CONFLICT DO NOTHING
            """, column.name, old, db.now(), new)
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, seq)
            SELECT \(table.number), \(key), 'update', \(Self.currentEdit) \(rows) ON CONFLICT DO NOTHING
            """, new)
    }

    /// Records the row as added to the lists of known rows that contain it, so that these lists are sent.
    func insertUpdates(
        ofListsContaining key: DatabaseValue, _ joinTable: TrackedTable.JoinTable, of table: TrackedTable
    ) throws {
        let names = joinTable.table
        let owners = """
            FROM \(names.table) AS p WHERE p.\(names.other) = ?
              AND EXISTS (SELECT 1 FROM sync_known WHERE e = \(table.number) AND k = +p.\(names.mine))
            """
        try db.run(
            """
            INSERT INTO sync_link (link, owner, other, op, edited) SELECT ?, p.\(names.mine), ?, 1, ? \(owners)
            ON CONFLICT DO NOTHING
            """, joinTable.name, key, db.now(), key)
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, seq)
            SELECT \(table.number), p.\(names.mine), 'update', \(Self.currentEdit) \(owners) ON CONFLICT DO NOTHING
            """, key)
    }

    /// Records removals from the lists of known rows, with the cause `cascade`, for the join rows that a deletion by
    /// the engine removed. Does nothing for join rows that were added or removed before, and for lists of deleted rows.
    func insertCascadedRemovals(from joinTable: TrackedTable.JoinTable, of table: TrackedTable) throws {
        let removed = """
            FROM sync_parting AS p
            WHERE p.list = ?1 AND EXISTS (SELECT 1 FROM sync_known AS n WHERE n.e = \(table.number) AND n.k = p.owner)
              AND EXISTS (SELECT 1 FROM \(table.sql) AS r WHERE r.\(table.keySQL) = +p.owner\(table.isOwn("r")))
            """
        try db.run(
            """
            INSERT INTO sync_link (link, owner, other, op, edited)
            SELECT ?2, p.owner, p.other, -1, ?3 \(removed) ON CONFLICT DO NOTHING
            """, joinTable.field, joinTable.name, db.now())
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, seq, cause)
            SELECT \(table.number), p.owner, 'update', \(Self.currentEdit), 'cascade' \(removed) ON CONFLICT DO NOTHING
            """, joinTable.field)
    }
}

// New rows whose keys are the IDs of other rows at the service. See ``KeyCollisions``.
extension EngineLedger {
    /// Returns the numbers of the entities that have changes.
    func entitiesWithChanges() throws -> Set<Int> {
        Set(
            try db.all(
                Int.self,
                "SELECT e FROM sync_entity AS n WHERE EXISTS (SELECT 1 FROM sync_outbox AS c WHERE c.e = n.e)"))
    }

    /// Returns the new rows of a table with these keys. `numbers` has the numbers of their entities. `isKnownByKey`:
    /// whether the service had the row with this key.
    func newRows(
        among keys: [DatabaseValue], ofEntities numbers: [Int], _ table: TableID, _ model: CompiledModel
    ) throws -> [(key: DatabaseValue, isKnownByKey: Bool)] {
        guard !keys.isEmpty, !numbers.isEmpty else { return [] }
        let list = numbers.map { "\($0)" }.joined(separator: ", ")
        let sought = Set(keys.map(\.exact))
        let isKnown = Self.isKnownByKey("sync_outbox", table, model)
        var found: [(key: DatabaseValue, isKnownByKey: Bool)] = []
        try db.forEachEntry(
            "SELECT k, \(isKnown) FROM sync_outbox WHERE e IN (\(list)) AND kind = 'create' AND ", keys
        ) { row in
            guard sought.contains(row[0].exact) else { return }
            found.append((row[0], try row.decode(Bool.self, atIndex: 1)))
        }
        return found
    }

    /// Returns the SQL condition that the service had a new row with its key: the row is to be created again, also as
    /// another entity of its table. `change` is the SQL name of its change.
    private static func isKnownByKey(_ change: String, _ table: TableID, _ model: CompiledModel) -> String {
        """
        (\(LocalEditTimes.isRestored("e = \(change).e AND k = \(change).k")) OR EXISTS (
          SELECT 1 FROM sync_known AS o WHERE o.k = \(change).k AND o.e IN (\(model.engineNumbers(of: table)))))
        """
    }

    /// Returns the pending references with the keys of new rows, except rows to be created again.
    func pendingReferences(toNewRowsOf table: TrackedTable, _ layout: StoreLayout) throws -> [PendingReference] {
        let model = layout.model
        let names = layout.entityNames(of: [table.entity.table])
        return try db.rows(
            """
            SELECT p.owner_entity, p.owner_key, p.relationship, p.target_entity, p.target_key
            FROM sync_outbox AS c CROSS JOIN sync_pending AS p ON p.target_entity IN (\(names)) AND p.target_key = c.k
            WHERE c.e = ? AND c.kind = 'create' AND NOT \(Self.isKnownByKey("c", table.entity.table, model))
            """, table.number
        ).compactMap { row -> PendingReference? in
            guard let owner = model.entityID(try row.decode(String.self, atIndex: 0)), let ownerKey = RowKey(row[1]),
                let target = model.entityID(try row.decode(String.self, atIndex: 3)), let key = RowKey(row[4])
            else { return nil }
            return PendingReference(
                owner: StoredRow(table: model.entities[owner].table, key: ownerKey), ownerEntity: owner,
                relationship: try row.decode(String.self, atIndex: 2), targetEntity: target, target: key)
        }
    }

    /// Returns whether a pending reference comes from the service: its owner is known, and the reference is no local
    /// edit. `number` is the number of the owner's entity.
    func isOfService(_ reference: PendingReference, _ number: Int, _ layout: StoreLayout) throws -> Bool {
        let (model, key) = (layout.model, reference.owner.key.databaseValue)
        guard let relationship = model.entities[reference.ownerEntity].relationship(named: reference.relationship),
            try db.finds("SELECT 1 FROM sync_known WHERE e = ? AND k = ?", number, key)
        else { return false }
        switch layout[relationship.link] {
        case .foreignKey(_, let column, _):
            return try relationship.end == .second
                || !db.finds("SELECT 1 FROM sync_base WHERE e = ? AND k = ? AND field = ?", number, key, column)
        case .joinTable(let name, _, _, _, _):
            return try !db.finds(
                "SELECT 1 FROM sync_link WHERE link = ? AND owner = ? AND other = ?", name, key,
                reference.target.databaseValue)
        }
    }
}
