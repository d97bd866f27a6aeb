/// Takes out of sample records what a model says nothing is wanted of, so that nobody is asked to add it.
struct SamplePruning: Sendable {
    private let model: CompiledModel
    private let entity: Int

    /// Nil if the model wants everything.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    init?(_ model: Model, entity name: String) throws {
        let compiled = model.compiled
        entity = try compiled.entity(named: name).id
        self.model = compiled
        if compiled.entities.allSatisfy({ compiled.rules(of: $0).ignored.isEmpty }) { return nil }
    }

    func pruned(_ record: JSONValue) -> JSONValue { pruned(record, of: entity, path: []) }

    /// - Parameter path: Leads from the record of the entity to the object.
    private func pruned(_ object: JSONValue, of entity: Int, path: [String]) -> JSONValue {
        guard case .object(let members) = object else { return object }
        let names = model.names(of: model.entities[entity])
        return .object(
            members.compactMap { member in
                let full = (path + [member.key]).joined(separator: ".")
                if let hop = names.relationships(readFrom: full).first {
                    let destination = model.entities[entity].relationships[hop.index].destination
                    return .init(
                        member.key, inside(member.value) { pruned($0, of: destination, path: []) })
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

    /// The object, or each of the list.
    private func inside(_ value: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard case .array(let elements) = value else { return change(value) }
        return .array(elements.map(change))
    }
}
