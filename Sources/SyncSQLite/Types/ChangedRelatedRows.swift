import GRDB
import SyncCore
import SyncStore

/// A related row of a value that is saved or synced.
enum RelatedRow {
    /// A loaded row.
    case value(any EntityRecord)
    /// A row that only the store has in the list. Its link and its place stay.
    case stored(SyncRow)
}

/// The related rows that the sync of a value writes or links: what the app changed since they were fetched or saved.
///
/// The sync of a fetched value must not write values or links back that others changed meanwhile. So it combines three
/// states of a list: as it was fetched or last saved, as the app left it, and as it is stored.
struct ChangedRelatedRows {
    /// The rows by the name of the relationship. Relationships without changes are left out.
    private(set) var rows: [String: [RelatedRow]] = [:]

    private let owner: JSONValue
    private let base: RowContents?
    private let entity: CompiledEntity
    private let keys: SavedKeys
    private let replacesLists: Bool

    /// - Parameters:
    ///   - owner: The primary key of the encoded value.
    ///   - base: The contents of the row as they were fetched or last saved; nil if all links must be written.
    ///   - replacesLists: Whether rows that the app removed from a list lose their link.
    init(
        _ given: EntityRowEncoder, of owner: JSONValue, since base: RowContents?, _ entity: CompiledEntity,
        _ keys: SavedKeys, _ replacesLists: Bool
    ) throws {
        (self.owner, self.base, self.entity) = (owner, base, entity)
        (self.keys, self.replacesLists) = (keys, replacesLists)
        for (name, related) in given.related {
            rows[name] = try changedRows(related, name, isPartial: given.partial.contains(name))
        }
    }

    /// Returns the rows of a relationship; nil if it has no changes.
    private func changedRows(
        _ related: [any EntityRecord], _ name: String, isPartial: Bool
    ) throws -> [RelatedRow]? {
        let all = related.map(RelatedRow.value)
        guard let relationship = entity.relationship(named: name) else { return all }
        guard let base, let fetched = base.related[name] else {
            guard isPartial, relationship.isToMany else { return all }
            if related.isEmpty, replacesLists { try checkIsEmpty(relationship) }
            return try merged(related, [], relationship) ?? all
        }
        let known = Set(fetched)
        let changed = try related.filter { row in
            try row.syncID == .null || !known.contains(row.syncID) || !row.isUnchanged(in: keys.stack.identity)
        }
        if base.isCertain, changed.isEmpty, related.map(\.syncID) == fetched { return nil }
        guard relationship.isToMany else { return all }
        if !relationship.relationship.isOrdered, !replacesLists {
            return changed.isEmpty ? nil : try merged(changed, known, relationship) ?? changed.map(RelatedRow.value)
        }
        return try merged(related, known, relationship) ?? all
    }

    /// Checks that a list that is not loaded can be set to an empty list: no row is stored in it.
    private func checkIsEmpty(_ relationship: CompiledRelationship) throws {
        guard owner != .null, let storedOwner = try keys.row(owner, of: entity),
            try !keys.stack.fetchRelated(relationship.name, of: storedOwner, in: keys.db).isEmpty
        else { return }
        throw SyncError(
            .invalidOption,
            "the list '\(relationship.name)' is not loaded, so its rows cannot be removed; fetch it with 'including:'",
            entity: entity.name, path: relationship.name)
    }

    // MARK: Lists

    /// Combines a list with the stored list. Returns nil if the owner is not stored, or if the related rows cannot be
    /// found by one key attribute.
    ///
    /// - Parameter known: The keys of the rows that were fetched or last saved.
    private func merged(
        _ related: [any EntityRecord], _ known: Set<JSONValue>, _ relationship: CompiledRelationship
    ) throws -> [RelatedRow]? {
        let destination = keys.stack.model.compiled.entities[relationship.destination]
        guard destination.keySlot != nil, owner != .null, let storedOwner = try keys.row(owner, of: entity) else {
            return nil
        }
        let stored = try keys.stack.fetchRelated(relationship.name, of: storedOwner, in: keys.db)
        let storedKeys = Set(stored.map(\.key.json))
        var list: [(key: JSONValue, row: RelatedRow)] = []
        for row in related {
            let key = try keys.currentKey(row.syncID, of: destination)
            // An unchanged row that is not stored in the list is in another list now, or was deleted.
            let isRemoved =
                try known.contains(row.syncID) && !storedKeys.contains(key) && base?.isCertain == true
                && row.isUnchanged(in: keys.stack.identity)
            if !isRemoved { list.append((key, .value(row))) }
        }
        let isOrdered = relationship.relationship.isOrdered
        if !isOrdered, !replacesLists { return list.map(\.row) }
        let listed = Set(list.map(\.key))
        let replaced = try replacesLists ? Set(known.map { try keys.currentKey($0, of: destination) }) : []
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
