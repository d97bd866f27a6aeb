import SyncCore

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
