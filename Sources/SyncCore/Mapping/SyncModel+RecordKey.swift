extension SyncModel {
    /// The key that a JSON record gives a row: the parts that it has, and those of another key for the others.
    ///
    /// - Throws: ``SyncError`` `recordExpected`, `nestingTooDeep`.
    package func key(of entity: CompiledEntity, in record: JSONValue, else current: RowKey) throws -> RowKey {
        let values = try AttributeMapper(record, of: entity, in: self).values
        guard let slot = entity.keySlot else { return compiled.key(of: entity, in: record, else: current) }
        let given = values[compiled[entity.table].attributes[slot].name] ?? .null
        return given.isNull ? current : compiled.rowKey(given.jsonForm, of: entity) ?? current
    }
}
