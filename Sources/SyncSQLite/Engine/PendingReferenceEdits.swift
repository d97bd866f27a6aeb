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
                let other = try key.k(of: reference.target, in: db)
            else { return }
            try ledger.insertEdit(ofList: name, reference.owner.key.databaseValue, other: other, isAdded: isAdded)
            try ledger.insertUpdate(ofTracked: reference.owner.key.databaseValue, number)
        }
    }
}
