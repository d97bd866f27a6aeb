import GRDB
import SyncCore
import SyncStore

/// Finds fields that were sent under JSON keys that the service does not know.
///
/// The response lacks such a key, and has another key that the model reads as the same attribute or relationship.
/// Merging the value of that key would undo the edit.
struct UnrecognizedFields {
    struct Member {
        /// The name of the column.
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
        case .toOne(let link):
            guard let index = table.entity.relationships.firstIndex(where: { $0.link == link && !$0.isToMany }) else {
                return false
            }
            return names.isRead(key, asRelationship: index)
        case .joinRows, .kind: return false
        }
    }
}
