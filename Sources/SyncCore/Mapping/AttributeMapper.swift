import Foundation

/// Maps the attributes of one JSON record, without its relationships: for filling single rows.
package struct AttributeMapper {
    /// By attribute name; only what the record says.
    package let values: [String: StoredValue]
    package let diagnostics: [SyncResult.Diagnostic]

    /// - Throws: ``SyncError`` `unknownEntity`, `recordExpected`, `nestingTooDeep`.
    package init(_ record: JSONValue, of entity: CompiledEntity, in model: SyncModel) throws {
        guard case .object = record else {
            throw SyncError(.recordExpected, "a record (JSON object) is expected", entity: entity.name, path: "$")
        }
        var builder = JSONTapeBuilder()
        try builder.read(record)
        let plan = ChangePlan(model: model.compiled, entity: entity.id, operations: .all, payload: Data())
        var mapper = PayloadMapper(
            plan, options: SyncOptions(), MappingTables(model))
        let slots = try builder.bytes.withUnsafeBufferPointer { try mapper.attributes(builder.tape, of: entity, $0) }
        var values: [String: StoredValue] = [:]
        builder.bytes.withUnsafeBufferPointer { bytes in
            mapper.plan.arena.withUnsafeBufferPointer { arena in
                let pool = TextPool(payload: bytes, arena: arena)
                for slot in entity.slots {
                    let attribute = model.compiled[entity.table].attributes[slot]
                    values[attribute.name] = StoredValue(slots[slot], as: attribute.type, pool)
                }
            }
        }
        self.values = values
        diagnostics = mapper.plan.diagnostics
    }
}
