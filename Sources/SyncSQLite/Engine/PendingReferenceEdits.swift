import GRDB
import SyncCore
import SyncStore

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
                let other = try key.k(of: reference.target, in: db)
            else { return }
            try ledger.insertEdit(ofList: name, reference.owner.key.databaseValue, other: other, isAdded: isAdded)
            try ledger.insertUpdate(ofTracked: reference.owner.key.databaseValue, number)
        }
    }
}

extension EngineLedger {
    /// Returns the entities whose edits triggers capture.
    fileprivate func capturedEntities() throws -> [(number: Int, name: String)] {
        try db.rows("SELECT e, name FROM sync_entity WHERE triggers <> ''").map {
            (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1))
        }
    }

    fileprivate func isPending(_ reference: PendingReference, _ layout: StoreLayout) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_pending WHERE owner_entity = ? AND owner_key = ? AND relationship = ?
              AND target_key = ? AND target_entity = ?
            """, layout.model.entities[reference.ownerEntity].name, reference.owner.key.databaseValue,
            reference.relationship, reference.target.databaseValue, layout.model.entities[reference.targetEntity].name)
    }

    // MARK: Foreign keys

    /// Records a foreign key as edited. Its base value is the value that ``FieldReader`` reads.
    fileprivate func insertEdit(
        of column: String, _ reference: PendingReference, _ number: Int, _ layout: StoreLayout
    ) throws {
        let (table, key) = (layout[reference.owner.table], reference.owner.key.databaseValue)
        let now = SQLiteEngineStore.now
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
    fileprivate func insertUpdate(ofTracked key: DatabaseValue, _ number: Int) throws {
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
    fileprivate func insertEdit(
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
            """, name, owner, other, op, SQLiteEngineStore.now)
    }
}
