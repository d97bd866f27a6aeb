import SyncCore

/// Which entities stored rows are of, and what their keys are: read in sets, and remembered until they are written.
final class RowIdentityCache {
    private let store: any StoreSession
    private let model: CompiledModel
    private var known: [StoredRow: StoredIdentity?] = [:]
    private var unsent: [TableID: Set<RowKey>] = [:]

    init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// Reads those of rows that are not known.
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

    /// Forgets all, because rows were inserted.
    func removeAll() { known = [:] }

    func recordDeleted(_ rows: [StoredRow]) {
        for row in rows { known[row] = .some(nil) }
    }

    /// Nil for a row that is not stored.
    private func stored(_ row: StoredRow) throws -> StoredIdentity? {
        try load(CollectionOfOne(row))
        return known[row] ?? nil
    }

    /// The entity and key of a stored row, as a result names it; nil if it is not stored.
    subscript(row: StoredRow) -> ResultBuilder.Identity? {
        get throws {
            guard let identity = try stored(row) else { return nil }
            let key = (identity.key ?? row.key).recordKey(model.keyType(of: identity.entity))
            return .init(entity: identity.entity, key: key)
        }
    }

    /// The row at one end of a link, which may not be stored any more.
    func end(_ row: StoredRow, _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> ResultBuilder.Identity
    {
        if let found = try self[row] { return found }
        let entity = link.side(end).entity
        return .init(entity: entity, key: row.key.recordKey(model.keyType(of: entity)))
    }

    /// Whether the service does not know a stored row yet, or not all that was done to it: what it lists says nothing of that
    /// row.
    func isUnsent(_ row: StoredRow) throws -> Bool {
        if try isLocal(row) { return true }
        if unsent[row.table] == nil { unsent[row.table] = try store.unsentRows(of: row.table) }
        return unsent[row.table]?.contains(row.key) ?? false
    }

    /// Whether a stored row has no key of the service's yet. A keyless row never has.
    func isLocal(_ row: StoredRow) throws -> Bool {
        guard model[row.table].keySlot == nil else { return row.key.isLocal }
        guard let identity = try stored(row), !model.isKeyless(identity.entity) else { return false }
        return identity.key?.isLocal ?? true
    }

    /// Whether a row is stored that has no key attribute.
    func isKeyless(_ row: StoredRow) throws -> Bool {
        guard model[row.table].keySlot == nil, let identity = try stored(row) else { return false }
        return model.isKeyless(identity.entity)
    }
}
