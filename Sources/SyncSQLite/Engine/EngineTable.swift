import GRDB
import SyncCore
import SyncStore

/// A registered entity as the engine's tables know it: its number, its table, and the domains that are sent and merged by
/// themselves.
struct EngineTable: Sendable {
    /// A column that is a domain.
    struct Column: Sendable {
        let name: String
        let domain: OutgoingShape.Domain
        /// Of a foreign key: the relationship, and the table that it leads to.
        let relationship: String?
        let destination: TableID?
        let isOptional: Bool
    }

    /// A join table whose pairs are sent with the rows of this end.
    struct Pairs: Sendable {
        let name: String
        let relationship: String
        let link: LinkID
        let end: Link.End
        /// Quoted names.
        let table: LinkTable
        let destination: TableID
    }

    let number: Int
    let registration: EngineRegistration.Entity
    let entity: CompiledEntity
    let table: TableLayout
    let keyType: AttributeType
    let columns: [Column]
    let pairs: [Pairs]
    let shape: OutgoingShape
    /// Finds the row of a key, if it is stored.
    let rowSQL: String
    let domains: DomainReader
    /// The names of the entities whose rows the table has, as SQL.
    let family: String

    /// - Throws: ``SyncError`` `keylessEntity`, and `invalidOption` for an entity that cannot be kept in step.
    init(_ registration: EngineRegistration.Entity, number: Int, _ model: SyncModel, _ layout: StoreLayout) throws {
        let entity = try model.compiled.entity(named: registration.name)
        let tree = model.compiled[entity.table]
        guard tree.root == entity.id else {
            throw SyncError(
                .invalidOption, "register '\(model.compiled.entities[tree.root].name)', whose table its rows are in",
                entity: entity.name)
        }
        guard let slot = tree.keySlot, entity.keySlot == slot else {
            throw SyncError(
                .invalidOption, "only entities whose key is one attribute are kept in step with a service as yet",
                entity: entity.name)
        }
        for name in registration.naturalKey where entity.slotByName[name] == nil {
            throw SyncError(
                .unknownAttribute,
                "the natural key names '\(name)', which is no attribute"
                    + SimilarName.hint(for: name, among: entity.slotByName.keys),
                entity: entity.name)
        }
        self.number = number
        self.registration = registration
        self.entity = entity
        table = layout[entity.table]
        keyType = tree.attributes[slot].type
        let shape = try OutgoingShape(entity, of: model)
        self.shape = shape
        columns = shape.members.compactMap { member in
            switch member.domain {
            case .attribute(let slot):
                return Column(
                    name: layout[entity.table].columns[slot], domain: member.domain, relationship: nil,
                    destination: nil, isOptional: tree.attributes[slot].isOptional)
            case .toOne(let id):
                guard case .foreignKey(_, let column, _) = layout[id] else { return nil }
                let link = model.compiled[id]
                return Column(
                    name: column, domain: member.domain, relationship: link.first.relationship?.name,
                    destination: link.second.table, isOptional: link.first.relationship?.isOptional ?? true)
            case .pairs: return nil
            }
        }
        pairs = shape.members.compactMap { member in
            guard case .pairs(let id, let end) = member.domain, case .joinTable(let name, _, _, _, _) = layout[id]
            else {
                return nil
            }
            let link = model.compiled[id]
            return Pairs(
                name: name, relationship: link.side(end).relationship?.name ?? name, link: id, end: end,
                table: LinkTable(link, end, layout), destination: link.side(end.other).table)
        }
        rowSQL = "SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = ?"
        let family = tree.entities.map { model.compiled.entities[$0].name }
        domains = DomainReader(columns, of: table, family: family)
        self.family = family.map(\.literal).joined(separator: ", ")
    }

    func isStored(_ key: DatabaseValue, in db: Database) throws -> Bool {
        try db.finds(sql: rowSQL, arguments: [key])
    }

    /// The JSON that a key of the table is, unless the service spells it in another way.
    func json(_ key: DatabaseValue) -> JSONValue {
        RowKey(key)?.recordKey(.single(keyType)).json ?? .null
    }

    /// What a domain is called by those who do not see columns.
    func domain(_ column: String) -> String { columns.first { $0.name == column }?.relationship ?? column }

    func recordKey(_ key: DatabaseValue) -> RecordKey {
        RowKey(key)?.recordKey(.single(keyType)) ?? .text("")
    }
}
