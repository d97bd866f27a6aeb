package import SyncCore

/// Inserts, updates and deletes single rows by their keys, inside one transaction.
package struct SingleRowSync {
    private let session: SyncSession
    /// A reader that sees the writes of the transaction.
    private let reader: any StoreReader
    private let model: SyncModel
    /// The values that the store can keep.
    private let capabilities: StoreCapabilities

    package init(
        _ session: SyncSession, _ reader: any StoreReader, _ model: SyncModel, _ capabilities: StoreCapabilities
    ) {
        self.session = session
        self.reader = reader
        self.model = model
        self.capabilities = capabilities
    }

    private var options: SyncOptions { session.request.options }

    /// Inserts a row from a JSON record, or updates the stored row with the same primary key.
    ///
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the record has no readable key, and the other errors of a sync of
    ///   one record.
    package func insertOrUpdate(_ entity: String, with record: JSONValue) throws -> (row: SyncRow, result: SyncResult) {
        try apply(graphBuilder(entity).map(singleRecord: record))
    }

    /// Updates a row with the attributes and relationships that a JSON record contains. A different primary key in the
    /// record becomes the key of the row.
    ///
    /// - Returns: The stored row and the changes; nil if no row has the key.
    /// - Throws: ``SyncError`` `duplicateKey` if another row has the new key; `rowNotFound` if the new key includes the
    ///   key of a row that is not stored; `typeMismatch` if the new key is too long for the store. Also the errors of a
    ///   sync of one record.
    package func update(
        _ entity: String, id: JSONValue, with values: JSONValue
    ) throws -> (row: SyncRow, result: SyncResult)? {
        guard let row = try storedRow(entity, id), row.type.isKeyed else { return nil }
        let type = model.compiled.keyType(of: row.type.id)
        let current = RowKey(row.key, type)
        let key = try model.key(of: row.type, in: values, else: current, keeping: capabilities)
        guard capabilities.keeps(key, type) else {
            throw SyncError(.typeMismatch, "the new key is too long for the store", entity: row.entity)
        }
        let payload = try graphBuilder(row.entity).map(singleRecord: values, key: key)
        guard key != current else { return try apply(payload) }
        guard try session.store.rows(withKeys: [key], of: row.type) == [nil] else {
            throw model.compiled.duplicateKey(of: row.type)
        }
        var request = session.request
        request.rekeyedRow = StoredRow(
            table: row.type.table, key: try session.store.setKey(of: row.rowKey, row.type, to: key))
        let rekeyed = SyncSession(session.store, session.model, request)
        var updated = try SingleRowSync(rekeyed, reader, model, capabilities).apply(payload)
        for (name, change) in changes(of: row.type, row.key, updated.row.key) {
            updated.result.addUpdate(
                of: name, entity: row.entity, key: updated.row.key, values: options.collectsValues ? change : nil)
        }
        return updated
    }

    /// Deletes a row by its key, and applies the delete rules of the model. If no row has the key, nothing changes.
    package func delete(_ entity: String, id: JSONValue) throws -> SyncResult {
        guard let row = try storedRow(entity, id) else { return SyncResult(entity: entity) }
        return try session.delete([StoredRow(table: row.type.table, key: row.rowKey)], of: row.type)
    }

    // MARK: Steps

    private func storedRow(_ entity: String, _ id: JSONValue) throws -> SyncRow? {
        try reader.row(entity, id: id, in: model.compiled, keeping: capabilities)
    }

    private func graphBuilder(_ entity: String) throws -> PayloadGraphBuilder {
        try PayloadGraphBuilder(
            inEntity: entity, of: model, parent: nil, operations: .all.subtracting(.delete), options: options,
            keeping: capabilities)
    }

    /// Applies a payload graph whose only root record has a key.
    ///
    /// - Throws: The error of ``SyncResult/rejection(of:)`` if the sync rejects that record.
    private func apply(_ payload: MappedPayload) throws -> (row: SyncRow, result: SyncResult) {
        let graph = payload.graph
        let entity = model.compiled.entities[graph.entity]
        guard let key = graph.rootKey else {
            throw SyncError(
                .primaryKeyMissing, graph.diagnostics.first?.message ?? "the record has no readable key",
                entity: entity.name, path: graph.diagnostics.first?.path)
        }
        let result = try session.apply(payload)
        guard result.root.inserted + result.root.matched > 0, let row = try reader.row(withKey: key, of: entity) else {
            throw result.rejection(of: entity)
        }
        return (row, result)
    }

    /// Returns the changed parts of a key.
    private func changes(
        of entity: CompiledEntity, _ old: PrimaryKeyValue, _ new: PrimaryKeyValue
    ) -> [(name: String, change: SyncResult.ValueChange)] {
        let names = model.compiled.keyNames(of: entity)
        guard case .composite(let before) = old, case .composite(let after) = new else {
            return names.prefix(1).map { ($0, SyncResult.ValueChange(old: old.json, new: new.json)) }
        }
        return zip(names, zip(before, after)).filter { $0.1.0 != $0.1.1 }.map { name, parts in
            (name, SyncResult.ValueChange(old: parts.0.json, new: parts.1.json))
        }
    }
}

extension SyncResult {
    /// Returns the error for a record that the sync rejected, with the diagnostic that explains it.
    package func rejection(of entity: CompiledEntity) -> SyncError {
        let reason =
            diagnostics.first { $0.kind == .missingRequiredValue || $0.kind == .entityMismatch } ?? diagnostics.first
        let code: SyncError.Code = reason?.kind == .entityMismatch ? .entityMismatch : .typeMismatch
        return SyncError(
            code, reason?.message ?? "the record was rejected: after the sync, no row has its key", entity: entity.name,
            path: reason?.path ?? "[0]")
    }
}

// MARK: - Links of a new row

/// A writer of the links of a new row to stored rows. The row comes last in each list.
///
/// It reads and writes links one by one, because a new row has few, and ``LinkChangeTracker`` would read whole lists.
package struct RowLinker {
    private let store: any StoreSession
    private let model: CompiledModel

    package init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// Links a row to stored rows.
    ///
    /// - Parameter targets: Stored rows of the relationship's destination; at most one for a to-one relationship.
    package func link(_ row: RowKey, by relationship: CompiledRelationship, to targets: [RowKey]) throws {
        let link = model[relationship.link]
        for target in targets {
            let key = TrackedLinks.key(row, target, relationship.end)
            try add(key, link)
            if link.isSymmetric { try add(JoinKey(first: key.second, second: key.first), link) }
        }
    }

    private func add(_ key: JoinKey, _ link: CompiledAssociation) throws {
        switch link.storage {
        case .foreignKey: try point(key.first, at: key.second, link)
        case .joinTable:
            guard try store.stored([key], link).isEmpty else { return }
            var positions = LinkPositions()
            for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
                positions[end] = try nextPosition(in: key.row(end), link, end)
            }
            try store.insert([JoinRow(rows: key, positions: positions)], link)
        }
    }

    /// Sets a foreign key. In a one-to-one association, clears the foreign key of the row that references the target.
    private func point(_ row: RowKey, at target: RowKey, _ link: CompiledAssociation) throws {
        if link.isOneToOne {
            let holders = try store.links(of: [target], link, from: .second).map(\.other)
            try store.setForeignKeys(holders.map { ForeignKeyUpdate(row: $0) }, link)
        }
        let position = try link.hasPositions(.second) ? nextPosition(in: target, link, .second) : nil
        try store.setForeignKeys([ForeignKeyUpdate(row: row, target: target, position: position)], link)
    }

    private func nextPosition(in owner: RowKey, _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> Int64?
    {
        try store.nextPositions(in: [owner], link, end).first
    }
}
