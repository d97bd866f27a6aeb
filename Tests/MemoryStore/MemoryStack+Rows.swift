package import SyncCore
import SyncStore

// Single rows without a sync.
extension MemoryStack {
    /// Inserts a row with the given values and related rows.
    ///
    /// - Throws: The errors of `DataStack.insert`.
    @discardableResult
    package func insert(
        _ entity: String, values: [String: JSONValue] = [:], relationships: [String: [SyncRow]] = [:]
    ) async throws -> SyncRow {
        let row = try await withWriter { writer in
            try writer.transaction { session in
                let inserter = try MemoryRowInserter(session, entity)
                return try session.row(inserter.insert(values, relationships), entity)
            }
        }
        return try row.get(entity)
    }

    /// Sets the attributes of the one row that satisfies a condition from a JSON record; nil to insert a new row.
    ///
    /// - Throws: The errors of `DataStack.updateAttributes`.
    @discardableResult
    package func updateAttributes(
        _ entity: String, with record: JSONValue, where predicate: RowPredicate? = nil
    ) async throws -> SyncRow {
        let (model, capabilities) = (model, capabilities)
        let row = try await withWriter { writer in
            try writer.transaction { session in
                let named = try model.compiled.entity(named: entity)
                guard let predicate else {
                    let values = try AttributeMapper(record, of: named, in: model, keeping: capabilities).values
                    return try session.row(MemoryRowInserter(session, entity).insert(values), entity)
                }
                let found = try session.contents.rows(of: named, where: predicate)
                guard found.count == 1, let key = found.first else {
                    throw SyncError(.rowNotFound, "exactly one row must match", entity: entity)
                }
                let row = StoredRow(table: named.table, key: key)
                return session.row(try session.contents.setAttributes(of: row, record, in: model), entity)
            }
        }
        return try row.get(entity)
    }
}

extension MemorySession {
    fileprivate func row(_ key: RowKey, _ entity: String) -> SyncRow? {
        model.entityID(entity).flatMap { id in
            StoredRows(contents).syncRow(StoredRow(table: model.entities[id].table, key: key))
        }
    }
}

extension SyncRow? {
    /// - Throws: ``SyncError`` `databaseError` if there is no row.
    fileprivate func get(_ entity: String) throws -> SyncRow {
        guard let self else { throw SyncError(.databaseError, "the row is not stored", entity: entity) }
        return self
    }
}

extension MemoryContents {
    /// Sets the attributes of a row from a JSON record, and changes its key if the record has another one.
    ///
    /// - Returns: The row key afterwards.
    fileprivate mutating func setAttributes(of row: StoredRow, _ record: JSONValue, in model: SyncModel) throws
        -> RowKey
    {
        guard let stored = self[row] else { return row.key }
        let entity = model.compiled.entities[stored.entity]
        let values = try AttributeMapper(record, of: entity, in: model, keeping: capabilities).values
        let names = Set(entity.keySlots.map { model.compiled[entity.table].attributes[$0].name })
        var changed = row
        let given = values.filter { names.contains($0.key) && !$0.value.isNull }
        if !given.isEmpty, let current = primaryKey(of: row) {
            let object = JSONValue.object(given.map { .init($0.key, $0.value.jsonForm) })
            let key = model.compiled.key(of: entity, in: object, else: current, keeping: capabilities)
            if key != current {
                try checkIsFree(key, of: entity)
                changed.key = try setKey(of: row, entity, to: key)
            }
        }
        for (name, value) in values where !names.contains(name) {
            guard let slot = entity.slotByName[name] else { continue }
            let new = value.afterWriting(as: model.compiled[entity.table].attributes[slot].type)
            if new != self[changed]?.values[slot] { update(changed) { $0.values[slot] = new } }
        }
        return changed.key
    }
}
