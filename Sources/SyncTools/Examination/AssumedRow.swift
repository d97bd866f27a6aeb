import SyncCore
import SyncSQLite

/// Makes rows in a store that is there for an examination alone, as if they had been stored.
struct AssumedRow {
    let stack: DataStack

    /// Makes the row with this key, and those that its key is made of. What the model requires of it besides is made up.
    ///
    /// - Returns: Nil if `id` is no key of the entity.
    /// - Throws: ``SyncError`` `unknownEntity`.
    @discardableResult
    func make(_ entity: CompiledEntity, id: JSONValue) throws -> SyncRecord? {
        let model = stack.model.compiled
        guard let concrete = entity.family.lazy.map({ model.entities[$0] }).first(where: { !$0.isAbstract }),
            let key = model.rowKey(id, of: concrete)?.recordKey(model.keyType(of: concrete.id))
        else { return nil }
        var (values, links) = try members(of: concrete, key)
        for attribute in concrete.slots.map({ model[concrete.table].attributes[$0] })
        where !attribute.isOptional && attribute.defaultValue == nil && values[attribute.name] == nil {
            values[attribute.name] = Self.anyValue(of: attribute.type)
        }
        return try stack.insert(concrete.name, values: values, links: links)
    }

    /// The attributes that a key is made of, and the rows.
    private func members(
        of entity: CompiledEntity, _ key: RecordKey
    ) throws -> (values: [String: JSONValue], links: [String: [SyncRecord]]) {
        let model = stack.model.compiled
        let names = model.keyNames(of: entity)
        guard case .parts(let keys) = key, let composite = entity.compositeKey else {
            return (names.first.map { [$0: key.json] } ?? [:], [:])
        }
        var (values, links): ([String: JSONValue], [String: [SyncRecord]]) = ([:], [:])
        for (name, (part, key)) in zip(names, zip(composite.parts, keys)) {
            switch part {
            case .attribute: values[name] = key.json
            case .relationship(let index):
                let destination = model.entities[entity.relationships[index].destination]
                links[name] = try make(destination, id: key.json).map { [$0] }
            }
        }
        return (values, links)
    }

    private static func anyValue(of type: AttributeType) -> JSONValue {
        switch type {
        case .integer, .double, .decimal, .date: JSONValue(0)
        case .boolean: .bool(false)
        case .uuid: .string("00000000-0000-0000-0000-000000000000")
        case .url: .string("about:blank")
        case .string, .binary, .json, .transformable: .string("")
        }
    }
}
