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
    let family: String
    /// The foreign key columns of registered tables that reference this table and are part of a key. When the
    /// referenced key changes, such a key changes too.
    let dependents: [(table: String, column: String)]
    /// All foreign key columns of registered tables that reference this table.
    let referencingColumns: [ReferencingColumn]
    let tables: [TrackedTable]

    init(_ table: TrackedTable, uniqueColumns: [[String]], among tables: [TrackedTable], _ layout: StoreLayout) {
        let model = layout.model
        dependents = model.links.compactMap { link in
            guard link.isKeyPart, link.second.table == table.entity.table,
                tables.contains(where: { $0.entity.table == link.first.table }),
                case .foreignKey(let owner, let column, _) = layout[link.id]
            else { return nil }
            return (owner, column)
        }
        referencingColumns = ReferencingColumn.all(of: tables, to: table, model)
        (self.table, self.tables) = (table, tables)
        key = table.table.keyColumn.quoted
        self.uniqueColumns = uniqueColumns
        isRowID = SchemaSQL.columnType(model[table.entity.table].rowKeyType) == "INTEGER"
        family = table.family
    }

    var statements: [String] {
        let (isOld, isNew) = (table.isOwn("OLD"), table.isOwn("NEW"))
        let hasOtherKey = "(\((table.key.ownColumns.map(differs) + isRenamed).joined(separator: " OR ")))"
        var triggers = [
            trigger(
                "replace", "BEFORE INSERT", when: Self.isCapturing, replaced(uniqueColumns + [[table.table.keyColumn]])),
            trigger("insert", "AFTER INSERT", when: Self.isCapturing + isNew, insertion + replacedReferenceDeletions),
            trigger(
                "delete", "AFTER DELETE", when: Self.isCapturing + isOld,
                referenceMoves(from: "+OLD.\(key)", to: deletedName) + deletion),
            trigger("leave", "AFTER DELETE", when: "NOT \(Self.isCapturing)\(isOld)", engineDeletion),
            trigger(
                "key", "AFTER UPDATE OF \(keyNames)", when: "\(Self.isCapturing) AND \(hasOtherKey)\(isOld)\(isNew)",
                // The values of the former row include its pending references.
                formerReferences + [Self.count] + deletedValues + movedPendingReferences + deletionEntries + insertion
                    + newReferences + dependentUpdates + movedUnreadableValues),
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
                        + referenceMoves(from: "+OLD.\(key)", to: "NEW.\(key)")))
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

    // MARK: SQL

    /// The SQL condition that writes are captured: no mode of ``CaptureSuppression`` is set.
    static let isCapturing = "NOT EXISTS (SELECT 1 FROM \"sync_capture_off\")"
    static let count = "UPDATE \"sync_engine\" SET \"seq\" = \"seq\" + 1"
    /// The SQL list of the key columns. For an integer key it includes `rowid` and its synonyms, by which SQLite also
    /// updates the key.
    private var keyNames: String {
        (table.key.ownColumns + (isRowID && !table.key.isSurrogate ? ["rowid", "oid", "_rowid_"] : [])).map(\.quoted)
            .joined(separator: ", ")
    }

    func differs(_ column: String) -> String {
        "OLD.\(column.quoted) IS NOT NEW.\(column.quoted) COLLATE BINARY"
    }

    private func trigger(_ name: String, _ event: String, when condition: String, _ body: [String]) -> String {
        let owner = table.isPart ? table.entity.name : table.table.name
        return Self.trigger("\(owner)_\(name)", event, on: table.table.name, when: condition, body)
    }

    static func trigger(
        _ name: String, _ event: String, on table: String, when condition: String, _ body: [String]
    ) -> String {
        TriggerSQL.create(EngineSchema.triggerPrefix + name, event, on: table, when: condition, body.map { $0 + ";" })
    }
}

// MARK: - Surrogate keys

// SQLite may reuse surrogate keys.
extension ChangeCaptureTriggers {
    /// The statements that update rows whose key contains the key of this row, so that the triggers of those rows run.
    var dependentUpdates: [String] {
        guard table.key.isSurrogate else { return [] }
        return dependents.map { table, column in
            let column = column.quoted
            return "UPDATE \(table.quoted) SET \(column) = \(column) WHERE \(column) = NEW.\(key)"
        }
    }

    /// Returns statements that replace the key of a row in the engine's tables; none if the table has no surrogate key.
    /// See ``EntryMove/statements(from:to:if:)``.
    func moves(from old: String, to new: String, if condition: String = "true") -> [String] {
        guard table.key.isSurrogate else { return [] }
        // `sync_known` comes last in `EngineSchema.surrogateKeyTables`, because the other statements look up names in it.
        return joinEditMoves("owner", identifiedWith: "other", of: table.joinTables.map(\.name), old, new, condition)
            + EngineSchema.surrogateKeyTables.flatMap { name in
                EntryMove.ofRow(in: name, table.number).statements(from: old, to: new, if: condition)
            }
    }

    /// Returns the SQL condition that an update of a join row is an edit, beginning with `AND`; empty without surrogate
    /// keys. An update that only follows a new surrogate key is not an edit.
    private func isNoRenumbering(of joinTable: TrackedTable.JoinTable) -> String {
        let ends =
            [(joinTable.table.mine, table)]
            + tables.filter { $0.entity.table == joinTable.destination }.map { (joinTable.table.other, $0) }
        return ends.filter { $0.1.key.isSurrogate }.map { column, end in
            """
             AND (OLD.\(column) IS NEW.\(column) OR EXISTS (
              SELECT 1 FROM \(end.table.name.quoted) AS r WHERE r.\(end.table.keyColumn.quoted) = OLD.\(column)))
            """
        }.joined()
    }
}

// MARK: - Join tables

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
                "\"link\" = \(joinTable.name.literal) AND \"owner\" = +\(owner) AND \"other\" = +\(other) AND \"op\" = \(-op)"
            return [
                Self.count,
                """
                INSERT INTO "sync_link" ("link", "owner", "other", "op", "edited")
                SELECT \(joinTable.name.literal), \(owner), \(other), \(op), \(Database.nowSQL)
                WHERE \(isNoted) AND NOT EXISTS (SELECT 1 FROM "sync_link" WHERE \(isPair))
                ON CONFLICT DO UPDATE SET "edited" = excluded."edited"
                """,
                "DELETE FROM \"sync_link\" WHERE \(isPair) AND \(isNoted)",
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
                    Self.isCapturing + (name.hasSuffix("update") ? isNoRenumbering(of: joinTable) : "")
                return Self.trigger(
                    "\(joinTable.name)_\(name)_\(joinTable.end)\(owner)", event, on: joinTable.name, when: condition,
                    body)
            }
    }
}

/// A mode of the engine's writes, which triggers check. Each mode is a row of `sync_capture_off` that is never committed.
enum CaptureSuppression: String {
    /// The engine writes, so triggers record no edits.
    case writing
    /// The engine deletes rows, and the service does not cascade deletions.
    case cascading
    /// The engine deletes rows, so triggers log the lists of deleted rows.
    case deleting

    /// The SQL condition, for triggers, that this mode is set.
    var isSet: String { "EXISTS (SELECT 1 FROM \"sync_capture_off\" WHERE \"mode\" = '\(rawValue)')" }

    func set(in db: Database) throws {
        try db.run("INSERT INTO sync_capture_off VALUES ('\(rawValue)') ON CONFLICT DO NOTHING")
    }

    func clear(in db: Database) throws {
        try db.run("DELETE FROM sync_capture_off WHERE mode = '\(rawValue)'")
    }

    func isSet(in db: Database) throws -> Bool {
        guard try db.tableExists("sync_capture_off", in: "main") else { return false }
        return try db.finds("SELECT 1 FROM sync_capture_off WHERE mode = '\(rawValue)'")
    }

    static func isAnySet(in db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_capture_off)") ?? false
    }

    static func clearAll(in db: Database) throws { try db.run("DELETE FROM sync_capture_off") }
}

// MARK: - Pending references

/// Records the changes that a sync makes to pending references as local edits, as triggers record changes of foreign
/// keys and join rows. A pending reference of an end that is not sent is no local edit.
///
/// Triggers of `sync_pending` would name the tables of the rows. SQLite then rejects statements of an app that rename
/// or recreate these tables.
struct PendingReferenceEdits {
    private let layout: StoreLayout
    private let db: Database
    /// The numbers of the entities whose edits are captured, by the index of the entity. Includes their subentities.
    private let numbers: [Int: Int]
    private var ledger: EngineLedger { EngineLedger(db) }

    /// Returns nil if no edits are captured: the database has no engine, or an engine writes.
    init?(_ layout: StoreLayout, _ db: Database) throws {
        guard try EngineSchema.isCurrent(in: db), try !CaptureSuppression.isAnySet(in: db) else { return nil }
        var numbers: [Int: Int] = [:]
        for (number, name) in try EngineLedger(db).capturedEntities() {
            guard let id = layout.model.entityID(name) else { continue }
            for entity in layout.model.entities[id].family { numbers[entity] = number }
        }
        guard !numbers.isEmpty else { return nil }
        (self.layout, self.db, self.numbers) = (layout, db, numbers)
    }

    /// Call this method before a pending reference is inserted. Does nothing if the reference is pending already.
    func recordInsertion(of reference: PendingReference) throws {
        guard try !ledger.isPending(reference, layout) else { return }
        try record(reference, isAdded: true)
    }

    /// Call this method before a pending reference is deleted, also if its row has arrived. The new link is recorded
    /// afterwards.
    func recordDeletion(of reference: PendingReference) throws { try record(reference, isAdded: false) }

    /// Returns the references of the service to new rows of captured entities. Skips rows with composite keys.
    func referencesToUnsentRows(among references: [PendingReference]) throws -> [PendingReference] {
        let entities = layout.model.entities
        var found: [PendingReference] = []
        for (table, references) in Dictionary(grouping: references, by: { entities[$0.targetEntity].table })
        where !layout[table].hasSurrogateKey {
            let ofTable = Set(numbers.filter { entities[$0.key].table == table }.values).sorted()
            let new = try ledger.newRows(
                among: references.map(\.target.databaseValue), ofEntities: ofTable, table, layout.model)
            let unsent = Set(new.filter { !$0.isKnownByKey }.map(\.key.exact))
            for reference in references where unsent.contains(reference.target.databaseValue.exact) {
                guard let number = numbers[reference.ownerEntity],
                    try ledger.isOfService(reference, number, layout)
                else { continue }
                found.append(reference)
            }
        }
        return found
    }

    private func record(_ reference: PendingReference, isAdded: Bool) throws {
        let model = layout.model
        let owner = model.entities[reference.ownerEntity]
        guard let number = numbers[owner.id], let relationship = owner.relationship(named: reference.relationship)
        else { return }
        let link = model[relationship.link]
        switch layout[link.id] {
        case .foreignKey(_, let column, _):
            guard relationship.end == .first, relationship.relationship.isExported, !link.isKeyPart else { return }
            try ledger.insertEdit(of: column, reference, number, layout)
        case .joinTable(let name, _, _, _, _):
            guard relationship.end == OutgoingSchema.sender(of: link, in: model),
                relationship.relationship.isExported,
                let key = TrackedKey(model.entities[reference.targetEntity], layout),
                let other = try key.engineKey(of: reference.target, in: db)
            else { return }
            try ledger.insertEdit(ofList: name, reference.owner.key.databaseValue, other: other, isAdded: isAdded)
            try ledger.insertUpdate(ofTracked: reference.owner.key.databaseValue, number)
        }
    }
}
