import Foundation
import SyncCore

/// The previous values of the rows that a sync writes, and the links that it changes. They are only collected if the
/// caller asks for values. Rows are read before their first write and once at the end of the sync, so other writes need
/// no bookkeeping.
final class PreviousValues {
    typealias Values = [String: JSONValue]

    private let store: any StoreSession
    private let model: CompiledModel
    private let identities: RowIdentityCache
    /// The values of each row before its first write.
    private var before: [StoredRow: Values] = [:]
    /// The written rows, by their identity in the result.
    private var rows: [ResultBuilder.Identity: StoredRow] = [:]
    private var addedLinks: [SyncResult.Link] = []
    private var removedLinks: [SyncResult.Link] = []
    /// The added links that the sync has removed again, each with its number.
    private var undoneLinks: [SyncResult.Link: Int] = [:]

    init(_ store: any StoreSession, _ model: CompiledModel, _ identities: RowIdentityCache) {
        self.store = store
        self.model = model
        self.identities = identities
    }

    func record(_ row: StoredRow, as identity: ResultBuilder.Identity) { rows[identity] = row }
    func recordAdded(_ link: SyncResult.Link) { addedLinks.append(link) }
    func recordRemoved(_ link: SyncResult.Link) { removedLinks.append(link) }
    func recordUndone(_ link: SyncResult.Link) { undoneLinks[link, default: 0] += 1 }

    /// Reads and keeps the values of stored rows. Call it before each write; later calls for a row have no effect.
    func capture(_ wanted: some Sequence<StoredRow>) throws {
        var seen: Set<StoredRow> = []
        let new = wanted.filter { before[$0] == nil && seen.insert($0).inserted }
        try identities.load(new)
        for (row, values) in zip(new, try values(of: new)) {
            guard let identity = try identities[row], before[row] == nil else { continue }
            before[row] = values ?? [:]
            rows[identity] = row
        }
    }

    // MARK: Result

    /// Adds the values and links to a result.
    func add(to result: inout SyncResult) throws {
        result.addedLinks = remainingAddedLinks().sorted(by: <)
        result.removedLinks = removedLinks.sorted(by: <)
        for entity in model.entities {
            guard var changes = result.entities[entity.name] else { continue }
            let updated = changes.updated.map { ResultBuilder.Identity(entity: entity.id, key: $0.key) }
            for (index, new) in try valuesNow(updated).enumerated() {
                changes.updated[index].values = changedValues(changes.updated[index], valuesBefore(updated[index]), new)
            }
            let inserted = changes.inserted.map { ResultBuilder.Identity(entity: entity.id, key: $0) }
            changes.insertedRows = zip(changes.inserted, try valuesNow(inserted)).map { .init(key: $0, values: $1) }
            changes.deletedRows = changes.deleted.map {
                .init(key: $0, values: valuesBefore(.init(entity: entity.id, key: $0)))
            }
            result.entities[entity.name] = changes
        }
    }

    private func remainingAddedLinks() -> [SyncResult.Link] {
        var undone = undoneLinks
        return addedLinks.filter { link in
            guard let count = undone[link], count > 0 else { return true }
            undone[link] = count - 1
            return false
        }
    }

    private func changedValues(
        _ update: SyncResult.Update, _ old: Values, _ new: Values
    ) -> [String: SyncResult.ValueChange] {
        Dictionary(
            update.changedAttributes.map { ($0, .init(old: old[$0] ?? .null, new: new[$0] ?? .null)) },
            uniquingKeysWith: { $1 })
    }

    private func valuesBefore(_ identity: ResultBuilder.Identity) -> Values {
        rows[identity].flatMap { before[$0] } ?? [:]
    }

    private func valuesNow(_ identities: [ResultBuilder.Identity]) throws -> [Values] {
        let written = identities.compactMap { rows[$0] }
        try self.identities.load(written)
        let now = Dictionary(zip(written, try values(of: written)), uniquingKeysWith: { $1 })
        return identities.map { identity in rows[identity].flatMap { now[$0] ?? nil } ?? [:] }
    }

    // MARK: Reading

    /// Returns the values of rows by name, without null values; nil for rows that are not stored.
    private func values(of wanted: [StoredRow]) throws -> [Values?] {
        var found: [StoredRow: StoredValues] = [:]
        for (table, rows) in Dictionary(grouping: wanted, by: \.table) {
            for (row, values) in zip(rows, try store.values(of: rows.map(\.key), in: table)) { found[row] = values }
        }
        try identities.load(
            found.lazy.flatMap { row, values in
                values.targets.map { self.target($0, of: row.table).row }
            })
        return try wanted.map { row in
            guard let values = found[row], let identity = try identities[row] else { return nil }
            return try named(values, row.table, model.entities[identity.entity])
        }
    }

    private func target(_ target: (foreignKey: Int, row: RowKey), of table: TableID) -> (
        link: CompiledAssociation, row: StoredRow
    ) {
        let link = model[model[table].foreignKeys[target.foreignKey]]
        return (link, StoredRow(table: link.second.table, key: target.row))
    }

    private func named(_ stored: StoredValues, _ table: TableID, _ entity: CompiledEntity) throws -> Values {
        var values: Values = [:]
        for (slot, value) in stored.attributes where entity.slots.contains(slot) && !value.isNull {
            values[model[table].attributes[slot].name] = value.reportedForm
        }
        for stored in stored.targets {
            let (link, row) = target(stored, of: table)
            let leading = entity.relationships.first { $0.link == link.id && $0.end == .first && !$0.isToMany }
            guard let leading else { continue }
            values[leading.name] = try identities.end(row, link, .second).key.json
        }
        return values
    }
}

extension StoredValue {
    /// The value as JSON. A number has the same text as after encoding and decoding the result.
    fileprivate var reportedForm: JSONValue {
        guard case .double(let value) = self else { return jsonForm }
        guard value.isFinite else { return .string("\(value)") }
        return .number(Decimal(string: "\(value)").map { "\($0)" } ?? "\(value)")
    }
}

// MARK: - Identities of rows

/// A cache of the entities and keys of stored rows, which are read in sets.
final class RowIdentityCache {
    private let store: any StoreSession
    private let model: CompiledModel
    private var known: [StoredRow: StoredIdentity?] = [:]
    private var rowsWithPendingChanges: [TableID: Set<RowKey>] = [:]

    init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// Reads the rows that are not cached.
    func load(_ rows: some Sequence<StoredRow>) throws {
        var unknown: [TableID: [RowKey]] = [:]
        for row in rows where known[row] == nil {
            known[row] = .some(nil)
            unknown[row.table, default: []].append(row.key)
        }
        for (table, keys) in unknown.sorted(by: { $0.key.index < $1.key.index }) {
            for (key, identity) in zip(keys, try store.identities(of: keys, in: table)) {
                known[StoredRow(table: table, key: key)] = .some(identity)
            }
        }
    }

    /// Clears the cache after rows were inserted or changed.
    func removeAll() { known = [:] }

    func recordDeleted(_ rows: [StoredRow]) {
        for row in rows { known[row] = .some(nil) }
    }

    /// Returns the entity and key of a row; nil if the row is not stored.
    private func stored(_ row: StoredRow) throws -> StoredIdentity? {
        try load(CollectionOfOne(row))
        return known[row] ?? nil
    }

    /// The entity and key of a stored row in a result; nil if the row is not stored.
    subscript(row: StoredRow) -> ResultBuilder.Identity? {
        get throws {
            guard let identity = try stored(row) else { return nil }
            let key = (identity.key ?? row.key).recordKey(model.keyType(of: identity.entity))
            return .init(entity: identity.entity, key: key)
        }
    }

    /// Returns the identity of the row at one end of a link. The row may be deleted already.
    func end(_ row: StoredRow, _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> ResultBuilder.Identity
    {
        if let found = try self[row] { return found }
        let entity = link.side(end).entity
        return .init(entity: entity, key: row.key.recordKey(model.keyType(of: entity)))
    }

    /// Returns whether a stored row has no remote ID yet, or has pending changes. A sync does not delete such a row for
    /// being omitted, because the service may not know its current state.
    func hasPendingChanges(_ row: StoredRow) throws -> Bool {
        if try isLocal(row) { return true }
        if rowsWithPendingChanges[row.table] == nil {
            rowsWithPendingChanges[row.table] = try store.rowsWithPendingChanges(of: row.table)
        }
        return rowsWithPendingChanges[row.table]?.contains(row.key) ?? false
    }

    /// Returns whether a stored row has no remote ID yet. False for a keyless row.
    func isLocal(_ row: StoredRow) throws -> Bool {
        guard model[row.table].keySlot == nil else { return row.key.isLocal }
        guard let identity = try stored(row), !model.isKeyless(identity.entity) else { return false }
        return identity.key?.isLocal ?? true
    }

    /// Returns whether a stored row belongs to a keyless entity.
    func isKeyless(_ row: StoredRow) throws -> Bool {
        guard model[row.table].keySlot == nil, let identity = try stored(row) else { return false }
        return model.isKeyless(identity.entity)
    }
}
