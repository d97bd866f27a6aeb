/// The keys of the resources of a JSON:API document whose `id` is not their key: others refer to them by type and id.
struct ResourceKeys: Sendable {
    private struct Resource: Hashable {
        let entity: Int
        let id: String
    }

    private var keys: [Resource: RowKey] = [:]

    subscript(entity: Int, id: String) -> RowKey? {
        get { keys[Resource(entity: entity, id: id)] }
        set { keys[Resource(entity: entity, id: id)] = newValue }
    }
}

extension PayloadMapper {
    /// Notes the key of a resource, where that is not its `id`. Called of all resources of a document before any is mapped,
    /// by a mapper that does nothing else.
    mutating func noteKey(_ tape: JSONTape, at place: Place, _ layout: PayloadLayout, _ bytes: Bytes) throws {
        guard let types = layout.types, let id = tape.member(named: "id", of: place.token, in: bytes),
            [.string, .number].contains(tape.tokens[id].kind),
            let type = tape.member(named: "type", of: place.token, in: bytes), tape.tokens[type].kind == .string,
            let entity = entity(ofType: tape, at: type, types, bytes), types.otherwiseKeyed.contains(entity)
        else { return }
        path.reset(to: placedRecords)
        placedRecords += 1
        path.root = .init(place, tape)
        candidates.removeAll(keepingCapacity: true)
        kindsBeside.removeAll(keepingCapacity: true)
        scratch.reset(tables.types[tables.tableOf[entity].index].count)
        try scanResource(tape, object: place.token, keyTable: entity, bytes)
        chooseCandidates(from: 0, entity, tape, bytes)
        let key = key(
            of: model.entities[entity], tape, Context(permission: .full, isResource: true), candidatesFrom: 0, bytes)
        let rowKey = plan.arena.withUnsafeBufferPointer { RowKey(key, TextPool(payload: bytes, arena: $0)) }
        if let rowKey { resourceKeys[entity, tape.text(at: id, in: bytes)] = rowKey }
    }

    /// The row of a resource of the document that has another key than its `id`; nil if there is none.
    mutating func resourceNode(
        _ tape: JSONTape, at id: Int, as target: Int, _ types: ResourceTypes, _ bytes: Bytes
    ) -> NodeID? {
        let entity = model.entities[target]
        guard types.otherwiseKeyed.contains(target), let keyOwner = entity.keyOwner,
            let key = resourceKeys[target, tape.text(at: id, in: bytes)]
        else { return nil }
        let slot = key.slot(model.keyType(of: target), arena: &plan.arena)
        let node = node(forKey: slot, keyOwner: keyOwner, entity, bytes).node
        return node
    }
}
