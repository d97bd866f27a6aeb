import SyncCore

/// Takes out of sample records what a model says nothing is wanted of, so that nobody is asked to add it; and makes lists
/// of the objects that it says hold records or ids by name.
struct SamplePruning: Sendable {
    private let model: CompiledModel
    private let entity: Int

    /// Nil if the model wants everything as it comes.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    init?(_ model: SyncModel, entity name: String) throws {
        let compiled = model.compiled
        entity = try compiled.entity(named: name).id
        self.model = compiled
        let changesNothing = compiled.entities.allSatisfy { entity in
            compiled.rules(of: entity).ignored.isEmpty
                && entity.relationships.allSatisfy { $0.relationship.keyedBy == nil }
        }
        if changesNothing { return nil }
    }

    func pruned(_ record: JSONValue) -> JSONValue { pruned(record, of: entity, path: []) }

    /// - Parameter path: Leads from the record of the entity to the object.
    private func pruned(_ object: JSONValue, of entity: Int, path: [String]) -> JSONValue {
        guard case .object(let members) = object else { return object }
        let names = model.names(of: model.entities[entity])
        return .object(
            members.compactMap { member in
                let full = RemoteKeyPath.text(path + [member.key])
                let hops =
                    path.isEmpty
                    ? names.relationships(readFrom: member.key) : names.relationships(readFromPath: full)
                if let hop = hops.first {
                    let relationship = model.entities[entity].relationships[hop.index]
                    let value = listed(member.value, of: relationship)
                    return .init(
                        member.key, inside(value) { pruned($0, of: relationship.destination, path: []) })
                }
                let isAttribute =
                    path.isEmpty
                    ? names.attribute(forKey: member.key) != nil : !names.slots(withRemoteKey: full).isEmpty
                if isAttribute { return member }
                if names.slots(below: full) == nil, names.ignores(member.key, at: path) { return nil }
                let value = inside(member.value) { pruned($0, of: entity, path: path + [member.key]) }
                // Nothing is wanted of an object of whose members nothing is.
                return value == .object([]) && member.value != value ? nil : .init(member.key, value)
            })
    }

    /// The records of an object that holds them by name, with their names; members that are only `true` are ids.
    private func listed(_ value: JSONValue, of hop: CompiledRelationship) -> JSONValue {
        let destination = model.entities[hop.destination]
        guard case .object(let members) = value, let slot = hop.relationship.keyedBy?.slot(in: destination, of: model)
        else { return value }
        let name = model[destination.table].attributes[slot].name
        return .array(
            members.compactMap { member in
                guard case .object(let fields) = member.value else { return nil }
                return .object([.init(name, .string(member.key))] + fields.filter { $0.key != name })
            })
    }

    /// The object, or each of the list.
    private func inside(_ value: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard case .array(let elements) = value else { return change(value) }
        return .array(elements.map(change))
    }
}
