public import GRDB
public import SyncCore

extension DataStack {
    /// Changes the row with this key: what the JSON says of its attributes and relationships, and nothing else.
    ///
    /// Absent keys keep, null clears. A key attribute among the values gives the row another key, and what refers to
    /// the row follows.
    ///
    /// - Parameters:
    ///   - id: The key, brought to the type of the key; a local key too.
    ///   - values: A JSON record; it may lack its key.
    /// - Returns: The row as stored and what the call changed; nil if no row has this key.
    /// - Throws: ``SyncError`` `keyTaken` if another row has the key among the values, `recordExpected`,
    ///   `unknownEntity`, `keylessEntity`. Nothing is written then.
    @discardableResult
    public func update(
        _ entity: String, id: JSONValue, with values: JSONValue, options: SyncOptions = SyncOptions(), in db: Database
    ) throws -> (row: SyncRecord, result: SyncResult)? {
        try update(entity, id: id, with: values, options, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the transaction is the stack's.
    private func update(
        _ entity: String, id: JSONValue, with values: JSONValue, _ options: SyncOptions, in db: Database,
        isOwn: Bool
    ) throws -> (row: SyncRecord, result: SyncResult)? {
        guard let row = try fetch(entity, id: id, in: db), row.type.isKeyed else { return nil }
        let current = RowKey(row.key, model.compiled.keyType(of: row.type.id))
        let key = try model.key(of: row.type, in: values, else: current)
        let payload = try singleRowStaging(row.entity, options).stage(singleRecord: values, key: key)
        var updated: (row: SyncRecord, result: SyncResult)?
        try DeferredForeignKeys.during(db, isAdopted) {
            try db.inSavepoint {
                if key != current { try RowKeyChange(self, row, db).rekey(to: key) }
                updated = try sync(singleRecord: payload, options, in: db, isOwn: isOwn)
                return .commit
            }
        }
        if key != current, let recordKey = updated?.row.key {
            for (name, change) in changes(of: row.type, row.key, recordKey) {
                updated?.result.addUpdate(
                    of: name, entity: row.entity, key: recordKey, values: options.collectsValues ? change : nil)
            }
        }
        return updated
    }

    /// What became of the parts of a key.
    private func changes(
        of entity: CompiledEntity, _ old: RecordKey, _ new: RecordKey
    ) -> [(name: String, change: SyncResult.ValueChange)] {
        let names = model.compiled.keyNames(of: entity)
        guard case .parts(let before) = old, case .parts(let after) = new else {
            return names.prefix(1).map { ($0, SyncResult.ValueChange(old: old.json, new: new.json)) }
        }
        return zip(names, zip(before, after)).filter { $0.1.0 != $0.1.1 }.map { name, parts in
            (name, SyncResult.ValueChange(old: parts.0.json, new: parts.1.json))
        }
    }

    /// Changes the row with this key, in a transaction of its own.
    @discardableResult
    public func update(
        _ entity: String, id: JSONValue, with values: JSONValue, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRecord, result: SyncResult)? {
        let updated = try await writing { db in
            try self.update(entity, id: id, with: values, options, in: db, isOwn: true)
        }
        if let updated { feed.publish(updated.result) }
        return updated
    }
}
