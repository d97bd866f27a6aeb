import Foundation
import GRDB
import SyncCore

// Values and links for callers who ask for them: rows are read just before they are first written, and once more at the
// end, so whatever wrote them in between needs no bookkeeping.
extension SyncTransaction {
    /// Keeps what a stored row holds. Called before each write; the first one counts.
    func keepValues(of row: StoredRow) throws {
        guard let history, history.before[row] == nil, let identity = try identity(of: row) else { return }
        history.keep(try values(of: row, identity.entity) ?? [:], of: row, as: identity)
    }

    func keepValues(of node: Int, _ tree: Int) throws {
        guard history != nil, let row = storedRow(of: node, tree) else { return }
        try keepValues(of: row)
        history?.note(row, as: identity(of: node, tree))
    }

    func noteInserted(_ nodes: [Int], _ tree: Int) {
        guard history != nil else { return }
        for node in nodes {
            if let row = storedRow(of: node, tree) { history?.note(row, as: identity(of: node, tree)) }
        }
    }

    // MARK: The result

    /// The report with values and links, if they were asked for.
    func addHistory(to result: inout SyncResult) throws {
        guard let history else { return }
        result.addedLinks = history.addedLinks.sorted()
        result.removedLinks = history.removedLinks.sorted()
        for entity in model.entities {
            guard var changes = result.entities[entity.name] else { continue }
            for index in changes.updated.indices {
                changes.updated[index].values = try changedValues(changes.updated[index], entity.id, history)
            }
            changes.insertedRows = try changes.inserted.map { key in
                .init(key: key, values: try valuesNow(.init(entity: entity.id, key: key), history))
            }
            changes.deletedRows = changes.deleted.map { key in
                .init(key: key, values: history.values(before: .init(entity: entity.id, key: key)))
            }
            result.entities[entity.name] = changes
        }
    }

    private func changedValues(
        _ update: SyncResult.Update, _ entity: Int, _ history: RowHistory
    ) throws -> [String: SyncResult.ValueChange] {
        let identity = ChangeReport.Identity(entity: entity, key: update.key)
        let old = history.values(before: identity)
        let new = try valuesNow(identity, history)
        return Dictionary(
            update.changed.map { ($0, .init(old: old[$0] ?? .null, new: new[$0] ?? .null)) }, uniquingKeysWith: { $1 })
    }

    private func valuesNow(_ identity: ChangeReport.Identity, _ history: RowHistory) throws -> RowHistory.Values {
        guard let row = history.rows[identity] else { return [:] }
        return try values(of: row, identity.entity) ?? [:]
    }

    // MARK: Reading

    /// What a row holds by name, nil values left out; nil if it is not stored.
    private func values(of row: StoredRow, _ entityID: Int) throws -> RowHistory.Values? {
        let columns = columns[row.tree]
        let entity = model.entities[entityID]
        let statement = try statements.statement(columns.select + " WHERE \(columns.keyColumn) = ?")
        statement.bind(row.key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        var values: RowHistory.Values = [:]
        for slot in entity.slots {
            let attribute = model.trees[row.tree].attributes[slot]
            let value = ColumnValue.storedValue(
                statement.value(columns.attributes + slot), as: attribute.type, isKey: slot == entity.keySlot)
            if !value.isNull { values[attribute.name] = value.reportedForm }
        }
        for relationship in entity.relationships where relationship.end == .first && !relationship.isToMany {
            guard let index = model.trees[row.tree].foreignKeys.firstIndex(of: relationship.link),
                let key = statement.key(columns.foreignKeys + index)
            else { continue }
            let target = StoredRow(tree: model.links[relationship.link].second.tree, key: key)
            values[relationship.name] = try end(target, relationship.link, .second).key.json
        }
        return values
    }

    func storedRow(of node: Int, _ tree: Int) -> StoredRow? {
        trees[tree].rowKey(node, plan.rows[tree], pool).map { StoredRow(tree: tree, key: $0) }
    }

    func identity(of node: Int, _ tree: Int) -> ChangeReport.Identity {
        .init(entity: trees[tree].entity(of: node), key: report.key(of: node, tree, trees[tree], pool))
    }

    /// The row at one end of a link, which may not be stored any more.
    func end(_ row: StoredRow, _ link: Int, _ end: Link.End) throws -> ChangeReport.Identity {
        if let found = try identity(of: row) { return found }
        let entity = model.links[link].side(end).entity
        return .init(entity: entity, key: row.key.recordKey(report.keyType(entity)))
    }
}

extension StoredValue {
    /// The value as JSON, numbers spelled as they are after encoding and decoding.
    fileprivate var reportedForm: JSONValue {
        guard case .double(let value) = self else { return jsonForm }
        guard value.isFinite else { return .string("\(value)") }
        return .number(Decimal(string: "\(value)").map { "\($0)" } ?? "\(value)")
    }
}
