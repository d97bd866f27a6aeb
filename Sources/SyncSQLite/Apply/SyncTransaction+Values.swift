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

    // MARK: Links

    func noteAddedLink(_ link: Int, _ first: Int32, _ second: Int32) {
        guard history != nil, first >= 0, second >= 0 else { return }
        let ends = (
            identity(of: Int(first), model.links[link].first.tree),
            identity(of: Int(second), model.links[link].second.tree)
        )
        history?.addedLinks.append(self.link(link, ends.0, ends.1))
    }

    func noteAddedLink(_ link: Int, _ first: StoredRow, _ second: StoredRow) throws {
        guard history != nil else { return }
        let found = try self.link(link, end(first, link, .first), end(second, link, .second))
        history?.addedLinks.append(found)
    }

    func noteRemovedLink(_ link: Int, _ first: StoredRow, _ second: StoredRow) throws {
        guard history != nil else { return }
        let found = try self.link(link, end(first, link, .first), end(second, link, .second))
        history?.removedLinks.append(found)
    }

    /// The link between a row and one it has a foreign key to, or is linked with, seen from either end.
    func noteRemovedLink(_ link: Int, of row: StoredRow, at end: Link.End, to key: RowKey) throws {
        guard history != nil else { return }
        let other = StoredRow(tree: model.links[link].side(end.other).tree, key: key)
        try end == .first ? noteRemovedLink(link, row, other) : noteRemovedLink(link, other, row)
    }

    /// The link of a foreign key that is about to change.
    func noteRemovedTarget(of row: StoredRow, _ link: Int) throws {
        guard history != nil, let key = try storedTargets(of: row, link: link, from: .first).first else { return }
        try noteRemovedLink(link, of: row, at: .first, to: key)
    }

    /// The foreign key of a node, before and after.
    func noteChangedTarget(of node: Int, _ tree: Int, _ link: Int, wasLinked: Bool, _ target: Int32) throws {
        guard history != nil else { return }
        noteAddedLink(link, Int32(truncatingIfNeeded: node), target)
        if wasLinked, let row = storedRow(of: node, tree) { try noteRemovedTarget(of: row, link) }
    }

    func noteLinks(_ changes: JoinChanges, _ link: Link) throws {
        guard history != nil else { return }
        for pair in changes.added { noteAddedLink(link.id, pair.first, pair.second) }
        for pair in changes.removed {
            try noteRemovedLink(
                link.id, StoredRow(tree: link.first.tree, key: pair.first),
                StoredRow(tree: link.second.tree, key: pair.second))
        }
    }

    private func link(
        _ link: Int, _ first: ChangeReport.Identity, _ second: ChangeReport.Identity
    ) -> SyncResult.Link {
        var end = reportedEnd(of: model.links[link])
        if model.links[link].side(end).relationship == nil { end = end.other }
        let (owner, target) = end == .first ? (first, second) : (second, first)
        return SyncResult.Link(
            entity: model.entities[owner.entity].name, key: owner.key,
            relationship: model.links[link].side(end).relationship?.name ?? "", target: target.key)
    }

    /// The to-one end; of two that are to-many the one that the payload speaks of, as a reader of it expects.
    private func reportedEnd(of link: Link) -> Link.End {
        if link.storage == .foreignKey { return .first }
        if let said = plan.links[link.id].assertions.last?.saidBy ?? plan.links[link.id].replacements.last?.end {
            return said
        }
        return link.second.tree == model.entities[plan.entity].tree ? .second : .first
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

    private func storedRow(of node: Int, _ tree: Int) -> StoredRow? {
        trees[tree].rowKey(node, plan.rows[tree], pool).map { StoredRow(tree: tree, key: $0) }
    }

    private func identity(of node: Int, _ tree: Int) -> ChangeReport.Identity {
        .init(entity: trees[tree].entity(of: node), key: report.key(of: node, tree, trees[tree], pool))
    }

    /// The row at one end of a link, which may not be stored any more.
    private func end(_ row: StoredRow, _ link: Int, _ end: Link.End) throws -> ChangeReport.Identity {
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
