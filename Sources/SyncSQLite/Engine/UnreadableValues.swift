import GRDB
import SyncCore
import SyncStore

/// Remote values that the model cannot read, so that the stored row does not have them.
///
/// If the field of such a value is sent although it was not edited, the value is sent back unchanged. Otherwise the
/// service would lose the value.
struct UnreadableValues {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database
    /// Whether rows of the table are sent with fields that were not edited.
    let areSent: Bool

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        (self.engine, self.table, self.db) = (engine, table, db)
        areSent = engine.registration.sendsWholeRows || !table.groups.isEmpty
    }

    /// Stores the values of a record that the model cannot read, and deletes stored values that it can read now. Does
    /// nothing if requests contain only edited fields. `isAny`: whether writing the page returned diagnostics.
    func record(_ record: JSONValue?, of key: DatabaseValue, isAny: Bool) throws {
        guard areSent, let record, case .object = record else { return }
        guard try isAny || db.finds("SELECT 1 FROM sync_unreadable WHERE e = ? AND k = ?", table.number, key) else {
            return
        }
        let attributes = engine.model.compiled[table.entity.table].attributes
        let said = try AttributeMapper(record, of: table.entity, in: engine.model).values
        for member in try table.shape(of: key, engine.model.compiled, in: db).members {
            guard case .attribute(let slot) = member.field, let value = record.value(at: member.path),
                let column = table.columns.first(where: { $0.field == member.field })
            else { continue }
            let isRead = value == .null || said[attributes[slot].name].map { !$0.isNull } ?? false
            if isRead { try delete(column.name, of: key) } else { try set(value, column.name, of: key) }
        }
    }

    private func set(_ value: JSONValue, _ field: String, of key: DatabaseValue) throws {
        try db.run(
            """
            INSERT INTO sync_unreadable (e, k, field, value) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value
            """, table.number, key, field, value.text)
    }

    private func delete(_ field: String, of key: DatabaseValue) throws {
        try db.run("DELETE FROM sync_unreadable WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
    }

    /// Deletes the unreadable value of an edited column, because the service has the edited value now.
    func resolve(_ field: String, of key: DatabaseValue) throws {
        if areSent, try EngineLedger(db).hasBase(field, key, table) { try delete(field, of: key) }
    }

    /// Returns the unreadable remote value of a column; nil if there is none, or if the column was edited.
    func value(_ field: String, of key: DatabaseValue) throws -> JSONValue? {
        guard areSent, try !EngineLedger(db).hasBase(field, key, table) else { return nil }
        let text = try db.first(
            String.self, "SELECT value FROM sync_unreadable WHERE e = ? AND k = ? AND field = ?", table.number, key,
            field)
        return try text.map { try EngineTableCheck.json($0) }
    }
}

/// Finds fields that were sent under JSON keys that the service does not know.
///
/// The response lacks such a key, and has another value under another key that the model reads as the same attribute or
/// relationship. Merging that value would undo the edit. If the value is the sent one, the service has stored it: a
/// service may read `project_id`, and return the nested record `project`.
struct UnrecognizedFields {
    struct Member {
        let field: String
        let reason: String
    }

    private let table: TrackedTable
    private let model: SyncModel
    private let db: Database

    init(_ table: TrackedTable, _ model: SyncModel, _ db: Database) {
        (self.table, self.model, self.db) = (table, model, db)
    }

    func found(in record: JSONValue?, of key: DatabaseValue, sent body: JSONValue) throws -> [Member] {
        guard case .object(let members)? = record, case .object(let sent) = body else { return [] }
        let names = Set(members.map(\.key))
        guard sent.contains(where: { !names.contains($0.key) && $0.value != .null }) else { return [] }
        let shape = try table.shape(of: key, model.compiled, in: db)
        return shape.members.compactMap { member in
            guard let name = member.path.first, member.path.count == 1, !names.contains(name),
                let value = body.value(at: member.path), value != .null,
                let other = members.first(where: { isRead($0.key, as: member.field) }),
                !isSame(other.value, as: value, member.field),
                let column = table.columns.first(where: { $0.field == member.field })
            else { return nil }
            return Member(
                field: column.name,
                reason:
                    "the service does not store '\(name)'; its records have '\(other.key)': set that as the remoteKey "
                    + "in the model")
        }
    }

    private func isRead(_ key: String, as field: OutgoingSchema.Field) -> Bool {
        let names = model.compiled.names(of: table.entity)
        switch field {
        case .attribute(let slot): return names.attribute(forKey: key)?.slot == slot
        case .toOne(let link): return index(of: link).map { names.isRead(key, asRelationship: $0) } ?? false
        case .joinRows, .kind: return false
        }
    }

    /// Returns whether a value of a field is the sent value. A reference is an ID or a nested record.
    private func isSame(_ value: JSONValue, as sent: JSONValue, _ field: OutgoingSchema.Field) -> Bool {
        switch field {
        case .attribute(let slot):
            let type = model.compiled[table.entity.table].attributes[slot].type
            return value == sent
                || Coercion.storedValue(sent, as: type).map { $0 == Coercion.storedValue(value, as: type) } ?? false
        case .toOne(let link):
            guard let index = index(of: link) else { return false }
            let destination = model.compiled.entities[table.entity.relationships[index].destination]
            return model.compiled.rowKey(sent, of: destination).map {
                $0 == model.compiled.rowKey(value, of: destination)
            } ?? false
        case .joinRows, .kind: return false
        }
    }

    /// Returns the index of the to-one relationship with an association.
    private func index(of link: AssociationID) -> Int? {
        table.entity.relationships.firstIndex { $0.link == link && !$0.isToMany }
    }
}
