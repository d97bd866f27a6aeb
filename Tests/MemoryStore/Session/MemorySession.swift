package import SyncCore
package import SyncStore
import SyncTesting

/// The session of a store in memory. It changes a copy of the contents, which its writer keeps or discards.
///
/// It reads whole tables, so it is simple and slow.
package final class MemorySession {
    package let model: CompiledModel
    package internal(set) var contents: MemoryContents
    package var scratch: [String: Int] = [:]

    // The state of the running sync.
    private(set) var tables: SyncTables?
    private var steps = ProgressReporter(nil)

    package init(_ contents: MemoryContents) {
        self.contents = contents
        model = contents.model
    }

    /// Counts rows and links of a loop, and checks for cancellation.
    func advance(by count: Int) throws {
        try steps.check()
        try steps.advance(by: count)
    }
}

extension MemorySession: StoreSession {
    package func begin(_ graph: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws {
        self.tables = tables
        self.steps = steps
    }

    package func end(awaits: Bool) throws { tables = nil }

    package func reserveCapacity(forInserting count: Int) throws {}

    package func checkLinks() throws -> [OutsideReferences] {
        for link in model.links {
            guard let key = contents.danglingLinks(link).first else { continue }
            let entity = model.entities[link.first.entity].name
            throw SyncError(
                .databaseError,
                "the transaction would leave dangling links: \(key.first.recordKey(nil)) to \(key.second.recordKey(nil))",
                entity: entity)
        }
        return []
    }

    package func rowCount(ofTable name: String) throws -> Int { 0 }

    package func notifyObservers(of tables: [ChangedTable], andLinks: Bool) throws {}

    // MARK: Reading rows

    package func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?] {
        let known = contents.rowKeys(of: entity)
        return keys.map { known[$0] }
    }

    package func referencesToOtherRows(among references: [PendingReference]) throws -> [PendingReference] { [] }

    package func identities(of rows: [RowKey], in table: TableID) throws -> [StoredIdentity?] {
        rows.map { key in
            let row = StoredRow(table: table, key: key)
            return contents[row].map { StoredIdentity(entity: $0.entity, key: contents.primaryKey(of: row)) }
        }
    }

    package func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?] {
        rows.map { key in
            guard let row = contents[StoredRow(table: table, key: key)] else { return nil }
            let read = contents.readValues(of: row)
            let targets = row.targets.enumerated().compactMap { index, target in
                target.map { (foreignKey: index, row: $0) }
            }
            return StoredValues(
                attributes: model.entities[row.entity].slots.map { (slot: $0, value: read[$0]) }, targets: targets)
        }
    }

    package func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, after key: RowKey?, limit: Int
    ) throws -> [RowKey] {
        let found = try contents.rows(of: entity, where: predicate ?? .all)
        return Array(found.drop { row in key.map { !$0.isBefore(row) } ?? false }.prefix(limit))
    }

    package func rows(
        among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate
    ) throws -> Set<RowKey> {
        try Set(rows).intersection(contents.rows(of: entity, where: predicate))
    }

    package func check(_ predicate: RowPredicate, on entity: CompiledEntity) throws {
        _ = try predicate.resolved(on: entity, in: model, keeping: contents.capabilities)
    }

    package func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int {
        let count = contents.rows(of: entity.table).values.count { $0.entity == entity.id }
        return limit.map { min($0, count) } ?? count
    }

    package func nextKey(of table: TableID) throws -> Int64 { contents.nextKey(of: table) }

    // MARK: Writing rows

    package func insert(_ nodes: [NodeID], _ table: SyncTable) throws {
        for node in nodes {
            guard let key = table.rowKey(node) else { continue }
            try contents.insert(newRow(node, key, table), at: key, in: table.id)
        }
        try advance(by: nodes.count)
    }

    /// Returns the row of a new node, with the values of the payload or the defaults of the model. Keys have no
    /// defaults.
    private func newRow(_ node: NodeID, _ key: RowKey, _ table: SyncTable) -> MemoryRow {
        let entity = table.payloadEntity(of: node)
        var row = MemoryRow(entity.id, in: table.hierarchy)
        for (slot, attribute) in table.hierarchy.attributes.enumerated() {
            if slot == table.hierarchy.keySlot {
                row.values[slot] = StoredValue(key, as: attribute.type)
            } else if let value = StoredValue(table.value(slot, of: node), as: attribute.type, table.pool) {
                row.values[slot] = value
            } else if slot != entity.keySlot, entity.slots.contains(slot) {
                row.values[slot] = attribute.initialValue
            }
        }
        for index in table.hierarchy.foreignKeys.indices {
            row.targets[index] = target(of: node, index, table)
            row.positions[index] = position(of: node, index, table)
        }
        return row
    }

    package func update(_ nodes: [NodeID], _ table: SyncTable) throws {
        let changed = table.matches.changed
        for node in nodes {
            guard let row = table.row(node) else { continue }
            let columns = changed.columns(changed.mask(of: node)).map(table.column)
            contents.update(row) { stored in
                for column in columns {
                    switch column {
                    case .attribute(let slot):
                        let type = table.hierarchy.attributes[slot].type
                        stored.values[slot] = StoredValue(table.value(slot, of: node), as: type, table.pool) ?? .null
                    case .foreignKey(let index): stored.targets[index] = target(of: node, index, table)
                    case .position(let index): stored.positions[index] = position(of: node, index, table)
                    }
                }
            }
        }
        try advance(by: nodes.count)
    }

    /// Returns the row key that the foreign key of a node gets; nil for none.
    private func target(of node: NodeID, _ index: Int, _ table: SyncTable) -> RowKey? {
        let second = tables?[model[table.hierarchy.foreignKeys[index]].second.table]
        return table.foreignKeys[index].targets[node.index].node.flatMap { second?.rowKey($0) }
    }

    /// Returns the position of a node in the list of the row that its foreign key references; nil for none.
    private func position(of node: NodeID, _ index: Int, _ table: SyncTable) -> Int64? {
        let positions = table.foreignKeys[index].positions
        return positions.isEmpty ? nil : positions[node.index]
    }

    package func setEntities(of rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws {
        let attributes = model[table].attributes
        for (key, entity, added) in rows {
            contents.update(StoredRow(table: table, key: key)) { row in
                row.entity = entity.id
                for slot in added { row.values[slot] = attributes[slot].initialValue }
            }
        }
    }

    package func setKey(of row: RowKey, _ entity: CompiledEntity, to key: RowKey) throws -> RowKey {
        try contents.setKey(of: StoredRow(table: entity.table, key: row), entity, to: key)
    }

    package func delete(_ rows: [StoredRow]) throws -> [OutsideReferences] {
        for row in rows {
            contents.removeJoinRows(of: row)
            contents.delete(row)
        }
        return []
    }
}

extension SyncModel.Attribute {
    /// The value of a new row whose record omits the attribute.
    var initialValue: StoredValue { defaultValue?.afterWriting(as: type) ?? .null }
}

// MARK: - Values

extension MemoryContents {
    /// Returns the values of a row as they are read: a temporary key is null.
    func readValues(of row: MemoryRow) -> [StoredValue] {
        var values = row.values
        if let slot = model.entities[row.entity].keySlot, RowKey(values[slot])?.isLocal == true { values[slot] = .null }
        return values
    }
}

// MARK: - Conditions

extension MemoryContents {
    /// Returns the keys of the rows of an entity and its subentities that satisfy a condition, in ascending order.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`.
    func rows(of entity: CompiledEntity, where predicate: RowPredicate) throws -> [RowKey] {
        let condition = try predicate.resolved(on: entity, in: model, keeping: capabilities)
        let all = rows(of: entity)
        if predicate == .all { return all }
        let lists = ListCache(self)
        return try all.filter { key in
            try condition.holds(for: ConditionRow(lists: lists, row: StoredRow(table: entity.table, key: key)))
        }
    }
}

/// A row for which a condition is evaluated.
private struct ConditionRow: PredicateRow {
    let lists: ListCache
    let row: StoredRow

    func predicateValue(of attribute: String) -> StoredValue {
        guard let stored = lists.contents[row],
            let slot = lists.contents.model.entities[stored.entity].slotByName[attribute]
        else { return .null }
        return lists.contents.readValues(of: stored)[slot]
    }

    func temporaryKey(of attribute: String) -> StoredValue {
        guard let stored = lists.contents[row] else { return .null }
        let entity = lists.contents.model.entities[stored.entity]
        guard let slot = entity.keySlot, entity.slotByName[attribute] == slot,
            RowKey(stored.values[slot])?.isLocal == true
        else { return .null }
        return stored.values[slot]
    }

    func predicateTargets(of relationship: String) -> [ConditionRow] {
        guard let stored = lists.contents[row],
            let found = lists.contents.model.entities[stored.entity].relationship(named: relationship)
        else { return [] }
        let table = lists.contents.model[found.link].side(found.end.other).table
        return lists.targets(of: row.key, found).map {
            ConditionRow(lists: lists, row: StoredRow(table: table, key: $0))
        }
    }
}

/// The lists of rows, each computed once.
final class ListCache {
    private struct Side: Hashable {
        let link: AssociationID
        let end: CompiledAssociation.End
    }

    let contents: MemoryContents
    private var lists: [Side: [RowKey: [StoredLink]]] = [:]

    init(_ contents: MemoryContents) { self.contents = contents }

    /// Returns the links of a row, in the order of its list.
    func links(of row: RowKey, _ relationship: CompiledRelationship) -> [StoredLink] {
        let side = Side(link: relationship.link, end: relationship.end)
        let known = lists[side] ?? contents.lists(contents.model[side.link], side.end)
        lists[side] = known
        return known[row] ?? []
    }

    /// Returns the rows that a relationship links to a row.
    func targets(of row: RowKey, _ relationship: CompiledRelationship) -> [RowKey] {
        links(of: row, relationship).map(\.other)
    }
}
