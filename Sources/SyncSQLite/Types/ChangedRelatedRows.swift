import GRDB
import SyncCore
import SyncStore

/// A related row of a value that is saved or synced.
enum RelatedRow {
    /// A loaded row. It has only the values that changed since `before`, or all values if `before` is nil.
    case value(any EntityRecord, since: (any EntityRecord)?)
    /// A row that only the store has in the list. Its link and its place stay.
    case stored(SyncRow)
}

/// The related rows that the sync of a value writes or links: what the app changed since they were fetched.
///
/// The sync of a fetched value must not write values or links back that others changed meanwhile. So it combines three
/// states of a list: as it was fetched, as the app left it, and as it is stored.
struct ChangedRelatedRows {
    /// The rows by the name of the relationship. Relationships without changes are left out.
    private(set) var rows: [String: [RelatedRow]] = [:]

    private let owner: JSONValue
    private let entity: CompiledEntity
    private let keys: SavedKeys
    private let replacesLists: Bool
    /// The stored row of the value; nil if there is none, or if no relationship was fetched.
    private let storedOwner: SyncRow?

    /// - Parameters:
    ///   - owner: The primary key of the encoded value.
    ///   - replacesLists: Whether rows that the app removed from a list lose their link.
    init(
        _ given: EntityRowEncoder, of owner: JSONValue, _ entity: CompiledEntity, _ keys: SavedKeys,
        _ replacesLists: Bool
    ) throws {
        (self.owner, self.entity, self.keys, self.replacesLists) = (owner, entity, keys, replacesLists)
        let needsOwner = owner != .null && !(given.fetched.isEmpty && given.partial.isEmpty)
        storedOwner = try needsOwner ? keys.row(owner, of: entity) : nil
        for (name, related) in given.related {
            rows[name] = try changedRows(related, name, given.fetched[name], isPartial: given.partial.contains(name))
        }
    }

    /// Returns the rows of a relationship; nil if it has no changes.
    private func changedRows(
        _ related: [any EntityRecord], _ name: String, _ fetched: (rows: [any EntityRecord], owner: JSONValue)?,
        isPartial: Bool
    ) throws -> [RelatedRow]? {
        let all = related.map { RelatedRow.value($0, since: nil) }
        guard let storedOwner, let relationship = entity.relationship(named: name) else { return all }
        // A copy of the value with another key needs all links.
        guard let fetched, fetched.owner == owner else {
            guard isPartial, relationship.isToMany else { return all }
            return try merged(related, [:], relationship, of: storedOwner) ?? all
        }
        let known = Dictionary(fetched.rows.map { ($0.syncID, $0) }) { first, _ in first }
        let changed = try related.filter { row in
            guard row.syncID != .null, let before = known[row.syncID] else { return true }
            return try !row.hasSameContents(as: before)
        }
        if changed.isEmpty, related.map(\.syncID) == fetched.rows.map(\.syncID) { return nil }
        guard relationship.isToMany else {
            let target = keys.stack.model.compiled.entities[relationship.destination]
            return try related.map { row in
                let isStored = try keys.row(keys.currentKey(row.syncID, of: target), of: target) != nil
                return .value(row, since: isStored ? known[row.syncID] : nil)
            }
        }
        if !relationship.relationship.isOrdered, !replacesLists {
            return changed.isEmpty
                ? nil
                : try merged(changed, known, relationship, of: storedOwner) ?? changed.map { .value($0, since: nil) }
        }
        return try merged(related, known, relationship, of: storedOwner) ?? all
    }

    // MARK: Lists

    /// Combines a list with the stored list. Returns nil if the related rows cannot be found by one key attribute.
    ///
    /// - Parameter known: The fetched rows by key.
    private func merged(
        _ related: [any EntityRecord], _ known: [JSONValue: any EntityRecord], _ relationship: CompiledRelationship,
        of storedOwner: SyncRow
    ) throws -> [RelatedRow]? {
        let destination = keys.stack.model.compiled.entities[relationship.destination]
        guard destination.keySlot != nil else { return nil }
        let stored = try keys.stack.fetchRelated(relationship.name, of: storedOwner, in: keys.db)
        let storedKeys = Set(stored.map(\.key.json))
        var list: [(key: JSONValue, row: RelatedRow)] = []
        for row in related {
            let key = try keys.currentKey(row.syncID, of: destination)
            guard let before = known[row.syncID], row.syncID != .null else {
                list.append((key, .value(row, since: nil)))
                continue
            }
            if storedKeys.contains(key) {
                list.append((key, .value(row, since: before)))
            } else if try !row.hasSameContents(as: before) {
                // The row is in another list now, or was deleted.
                let isStored = try keys.row(key, of: destination) != nil
                list.append((key, .value(row, since: isStored ? before : nil)))
            }
        }
        let isOrdered = relationship.relationship.isOrdered
        if !isOrdered, !replacesLists { return list.map(\.row) }
        let listed = Set(list.map(\.key))
        let replaced = try replacesLists ? Set(known.keys.map { try keys.currentKey($0, of: destination) }) : []
        let others = stored.filter { !listed.contains($0.key.json) && !replaced.contains($0.key.json) }
        let order = stored.map(\.key.json)
        let kept = list.map(\.key).filter(storedKeys.contains)
        guard isOrdered, kept == order.filter(listed.contains) else {
            return list.map(\.row) + others.map(RelatedRow.stored)
        }
        return woven(list, others, order)
    }

    /// Returns the rows in the stored order. A row that is not stored in the list follows the row that precedes it in
    /// the list of the app. If the app has none of the stored rows, new rows come last.
    private func woven(
        _ list: [(key: JSONValue, row: RelatedRow)], _ others: [SyncRow], _ order: [JSONValue]
    ) -> [RelatedRow] {
        let stored = Set(order)
        var following: [JSONValue?: [RelatedRow]] = [:]
        var rows = Dictionary(others.map { ($0.key.json, RelatedRow.stored($0)) }) { first, _ in first }
        var last = list.contains { stored.contains($0.key) } ? nil : order.last { rows[$0] != nil }
        for (key, row) in list {
            if stored.contains(key) {
                rows[key] = row
                last = key
            } else {
                following[last, default: []].append(row)
            }
        }
        return (following[nil] ?? []) + order.flatMap { key in (rows[key].map { [$0] } ?? []) + (following[key] ?? []) }
    }
}

// MARK: - Comparison

extension EntityRowEncoder {
    /// Returns the names of the attributes with the same stored values as in `before`.
    func unchangedAttributes(since before: EntityRowEncoder) -> [String] {
        let values = Dictionary(before.attributes.map { ($0.name, $0.value) }) { first, _ in first }
        return attributes.filter { name, value, _ in values[name].map { Self.isSame(value, $0) } ?? false }.map(\.name)
    }

    /// Returns whether the row has the same link.
    func has(_ reference: Reference) -> Bool {
        references.contains { $0.column == reference.column && $0.key == reference.key }
    }

    /// Compares the stored forms of values, because `JSONEncoder` writes the members of an object in any order.
    private static func isSame(_ value: StoredValue, _ other: StoredValue) -> Bool {
        ColumnValue.databaseValue(value, as: .json).isExactly(ColumnValue.databaseValue(other, as: .json))
    }
}

extension EntityRecord {
    /// Returns whether another value has the same type, attributes, links and loaded related rows.
    fileprivate func hasSameContents(as other: any EntityRecord) throws -> Bool {
        guard let other = other as? Self else { return false }
        let (own, others) = (try EntityRowEncoder(encoding: self), try EntityRowEncoder(encoding: other))
        guard own.unchangedAttributes(since: others).count == own.attributes.count,
            own.references.elementsEqual(others.references, by: { $0.key == $1.key }),
            own.related.keys == others.related.keys
        else { return false }
        return try own.related.allSatisfy { name, rows in
            guard let before = others.related[name], rows.count == before.count else { return false }
            return try zip(rows, before).allSatisfy { try $0.hasSameContents(as: $1) }
        }
    }
}
