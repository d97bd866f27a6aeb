import GRDB
import SyncCore
import SyncStore

/// A related row of a value that is saved or synced.
enum RelatedRow {
    /// A row of the app, which is linked, and inserted or updated.
    case value(any EntityRecord)
    /// A row whose link and place stay.
    case stored(SyncRow)
}

/// A value whose row is saved, and the contents to compare the value with.
struct ChangedValue {
    let value: any EntityRecord
    /// The contents as they were fetched or last saved with the owner of the value; nil for those that the value knows.
    let base: RowContents?
    /// Whether the value is a new row, also if a save generated a key for it before.
    var isNew = false
}

/// The related rows that a save of a value links or writes.
///
/// The save of a fetched value must not write values or links back that others changed meanwhile. So it combines three
/// states of a list: as it was fetched or last saved, as the app left it, and as it is stored. If the app changed a row
/// of the list, but not the list, only the row is saved.
struct ChangedRelatedRows {
    /// The rows of each relationship whose links the app changed, by the name of the relationship.
    private(set) var rows: [String: [RelatedRow]] = [:]
    /// The stored rows that the app changed and whose links it kept. They are saved as values of their own.
    private(set) var changed: [ChangedValue] = []

    private let owner: JSONValue
    private let base: RowContents?
    private let entity: CompiledEntity
    private let context: SaveContext
    private let replacesLists: Bool

    /// - Parameters:
    ///   - owner: The primary key of the encoded value.
    ///   - base: The contents of the row as they were fetched or last saved; nil if all links must be written.
    ///   - replacesLists: Whether rows that the app removed from a list lose their link.
    init(
        _ given: EntityRowEncoder, of owner: JSONValue, since base: RowContents?, _ entity: CompiledEntity,
        _ context: SaveContext, _ replacesLists: Bool
    ) throws {
        (self.owner, self.base, self.entity) = (owner, base, entity)
        (self.context, self.replacesLists) = (context, replacesLists)
        for (name, related) in given.related.sorted(by: { $0.key < $1.key }) {
            rows[name] = try linkedRows(related, name, isPartial: given.partial.contains(name))
        }
    }

    /// Returns the rows of a relationship; nil if the app did not change its links.
    private mutating func linkedRows(
        _ related: [any EntityRecord], _ name: String, isPartial: Bool
    ) throws -> [RelatedRow]? {
        let all = related.map(RelatedRow.value)
        guard let relationship = entity.relationship(named: name) else { return all }
        guard let base, let fetched = base.related[name] else {
            guard isPartial, relationship.isToMany else { return all }
            if replacesLists, related.isEmpty || destination(of: relationship).keySlot == nil {
                try checkIsEmpty(relationship)
            }
            return try mergedList(related, [], relationship) ?? all
        }
        let destination = destination(of: relationship)
        let known = Dictionary(fetched.rows.map { ($0.key, $0) }) { first, _ in first }
        var kept: Set<JSONValue> = []
        for row in related {
            let key = context.key(of: row)
            guard let contents = known[key], key != .null else { continue }
            if try row.isUnchanged(since: contents) {
                kept.insert(key)
            } else if try context.isStored(key, of: destination) {
                kept.insert(key)
                changed.append(ChangedValue(value: row, base: contents))
            }
        }
        let isKnown = fetched.isCertain && !(replacesLists && !fetched.possible.isEmpty)
        if isKnown, kept.count == related.count, related.map(context.key) == fetched.keys { return nil }
        guard relationship.isToMany else { return all }
        return try mergedList(related, kept, relationship, fetched) ?? all
    }

    private func destination(of relationship: CompiledRelationship) -> CompiledEntity {
        context.stack.model.compiled.entities[relationship.destination]
    }

    /// Checks that no row is stored in a list that is not loaded. Otherwise the list cannot be cleared, and cannot be
    /// combined with the stored list if the keys of its rows are no single attributes.
    private func checkIsEmpty(_ relationship: CompiledRelationship) throws {
        guard owner != .null, let storedOwner = try context.row(owner, of: entity),
            try !context.stack.fetchRelated(relationship.name, of: storedOwner, in: context.db).isEmpty
        else { return }
        throw SyncError(
            .invalidOption,
            "the list '\(relationship.name)' is not loaded; to change its stored rows, fetch it with 'including:'",
            entity: entity.name, path: relationship.name)
    }

    // MARK: Lists

    /// Combines a list with the stored list. Returns nil if the owner is not stored, or if the related rows cannot be
    /// found by one key attribute.
    ///
    /// - Parameters:
    ///   - kept: The keys of the rows that the app kept in the list and that are stored.
    ///   - fetched: The list as it was fetched or last saved; nil if it is not known.
    private func mergedList(
        _ related: [any EntityRecord], _ kept: Set<JSONValue>, _ relationship: CompiledRelationship,
        _ fetched: RowContents.Related? = nil
    ) throws -> [RelatedRow]? {
        let isOrdered = relationship.relationship.isOrdered
        // Without an order, the links of other rows stay.
        if !isOrdered, !replacesLists {
            return related.filter { !kept.contains(context.key(of: $0)) }.map(RelatedRow.value)
        }
        let destination = destination(of: relationship)
        guard destination.keySlot != nil, owner != .null, let storedOwner = try context.row(owner, of: entity) else {
            return nil
        }
        let stored = try context.stack.fetchRelated(relationship.name, of: storedOwner, in: context.db)
        let storedRows = Dictionary(stored.map { ($0.key.json, $0) }) { first, _ in first }
        func currentKey(_ key: JSONValue) throws -> JSONValue { try context.currentKey(key, of: destination) }
        var list: [(key: JSONValue, row: RelatedRow)] = []
        for row in related {
            let own = context.key(of: row)
            let key = try currentKey(own)
            if !kept.contains(own) {
                list.append((key, .value(row)))
            } else if let storedRow = storedRows[key] {
                list.append((key, .stored(storedRow)))
            }
        }
        let listed = Set(list.map(\.key))
        let order = stored.map(\.key.json)
        let removed = try fetched.map { Set(try ($0.rows + $0.possible).map { try currentKey($0.key) }) } ?? []
        let others = try stored.filter { row in
            let key = row.key.json
            if listed.contains(key) || replacesLists && removed.contains(key) { return false }
            return try !context.added.contains(key, to: relationship)
        }
        // The app moved no row if the rows that it kept have the fetched order.
        let keptKeys = list.filter { !$0.row.isValue }.map(\.key)
        let unmoved = try fetched?.keys.map(currentKey).filter(Set(keptKeys).contains) ?? []
        guard isOrdered, keptKeys == unmoved else { return list.map(\.row) + others.map(RelatedRow.stored) }
        return woven(list, others, order)
    }

    /// Returns the rows in the stored order. A row that the app added follows the row that precedes it in the list of the
    /// app. If the app has none of the stored rows, the added rows come last.
    private func woven(
        _ list: [(key: JSONValue, row: RelatedRow)], _ others: [SyncRow], _ order: [JSONValue]
    ) -> [RelatedRow] {
        var following: [JSONValue?: [RelatedRow]] = [:]
        var rows = Dictionary(others.map { ($0.key.json, RelatedRow.stored($0)) }) { first, _ in first }
        var last = list.contains { !$0.row.isValue } ? nil : order.last { rows[$0] != nil }
        for (key, row) in list {
            if row.isValue {
                following[last, default: []].append(row)
            } else {
                rows[key] = row
                last = key
            }
        }
        return (following[nil] ?? []) + order.flatMap { key in (rows[key].map { [$0] } ?? []) + (following[key] ?? []) }
    }
}

extension RelatedRow {
    fileprivate var isValue: Bool {
        if case .value = self { return true }
        return false
    }
}
