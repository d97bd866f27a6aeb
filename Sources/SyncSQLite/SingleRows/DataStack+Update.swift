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
    ) throws -> (row: Record, result: SyncResult)? {
        guard let row = try fetch(entity, id: id, in: db), let slot = row.type.keySlot else { return nil }
        let attribute = model.compiled[row.type.table].attributes[slot]
        let current = Coercion.storedValue(row.key.json, as: attribute.type) ?? .null
        let given = try AttributeMapper(values, of: row.type, in: model).values[attribute.name] ?? .null
        let key = given.isNull ? current : given
        let payload = try singleRowStaging(row.entity, options).stage(singleRecord: values, key: key)
        var updated: (row: Record, result: SyncResult)?
        try db.inSavepoint {
            if key != current { try RowKeyChange(self, row, db).rekey(to: key) }
            updated = try sync(singleRecord: payload, options, in: db)
            return .commit
        }
        if key != current, let recordKey = updated?.row.key {
            let values = SyncResult.ValueChange(old: row.key.json, new: recordKey.json)
            updated?.result.addUpdate(
                of: attribute.name, entity: row.entity, key: recordKey,
                values: options.collectsValues ? values : nil)
        }
        return updated
    }

    /// Changes the row with this key, in a transaction of its own.
    @discardableResult
    public func update(
        _ entity: String, id: JSONValue, with values: JSONValue, options: SyncOptions = SyncOptions()
    ) async throws -> (row: Record, result: SyncResult)? {
        try await writing { db in try self.update(entity, id: id, with: values, options: options, in: db) }
    }
}
