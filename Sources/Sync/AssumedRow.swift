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
    func make(_ entity: CompiledEntity, id: JSONValue) throws -> Record? {
        let model = stack.model.compiled
        guard let concrete = entity.family.lazy.map({ model.entities[$0] }).first(where: { !$0.isAbstract }),
            let key = try key(of: concrete, id: id)
        else { return nil }
        var values = key.values
        for attribute in concrete.slots.map({ model[concrete.table].attributes[$0] })
        where !attribute.isOptional && attribute.defaultValue == nil && values[attribute.name] == nil {
            values[attribute.name] = Self.anyValue(of: attribute.type)
        }
        return try stack.insert(concrete.name, values: values, links: key.links)
    }

    private typealias Key = (values: [String: JSONValue], links: [String: [Record]])

    private func key(of entity: CompiledEntity, id: JSONValue) throws -> Key? {
        let model = stack.model.compiled
        let names = model.keyNames(of: entity)
        guard let composite = entity.compositeKey else {
            return names.first.map { ([$0: id], [:]) }
        }
        var key: Key = ([:], [:])
        for (index, (name, part)) in zip(names, composite.parts).enumerated() {
            guard let value = Self.part(name, at: index, of: id) else { return nil }
            switch part {
            case .attribute: key.values[name] = value
            case .relationship(let index):
                let destination = model.entities[entity.relationships[index].destination]
                guard let row = try make(destination, id: value) else { return nil }
                key.links[name] = [row]
            }
        }
        return key
    }

    /// A part of a key that is given as the list or as an object of them, or as itself if it is the only one.
    private static func part(_ name: String, at index: Int, of id: JSONValue) -> JSONValue? {
        switch id {
        case .array(let parts): parts.indices.contains(index) ? parts[index] : nil
        case .object(let members): members.last { $0.key == name }?.value
        default: index == 0 ? id : nil
        }
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
