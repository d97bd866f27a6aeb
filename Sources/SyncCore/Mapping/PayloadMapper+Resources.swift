// Maps JSON:API resources, which state their entity as `type`.
extension PayloadMapper {
    /// Returns the entity of a resource type; nil if no entity has the type. Each type is looked up once.
    mutating func entity(
        ofType tape: JSONTape, at token: Int, _ types: ResourceTypes, _ bytes: Bytes
    ) -> Int? {
        let type = tape.tokens[token]
        let text = UnsafeBufferPointer(rebasing: bytes[type.offset..<type.offset + Int(type.length)])
        for known in knownTypes where known.type.withUnsafeBufferPointer({ TextPool.equal($0, text) }) {
            return known.entity
        }
        let entity = types.entity(of: tape.text(at: token, in: bytes))
        knownTypes.append((Array(text), entity))
        return entity
    }

    /// Returns the node of a resource identifier, `{"type": …, "id": …}`, and the entity of its type. For an invalid
    /// identifier, reports it and returns nil.
    mutating func resourceReference(
        _ relationship: RelationshipMapping, _ tape: JSONTape, at token: Int, _ entity: Int, _ bytes: Bytes
    ) -> (node: NodeID, kind: Int)? {
        guard let id = tape.member(named: "id", of: token, in: bytes), tape.tokens[id].kind != .object,
            let type = tape.member(named: "type", of: token, in: bytes), tape.tokens[type].kind == .string,
            let types = layout?.types
        else {
            report(
                .invalidRelationshipValue, entity, bytes, "the resource identifier has no type or no id; it is skipped")
            return nil
        }
        guard let target = self.entity(ofType: tape, at: type, types, bytes),
            model.entity(target, isKindOf: relationship.destination)
                || model.entity(relationship.destination, isKindOf: target)
        else {
            report(
                .unknownDiscriminatorValue, entity, bytes,
                "the resource type '\(tape.text(at: type, in: bytes).prefix(100))' is not a type of "
                    + "\(model.entities[relationship.destination].name); the resource identifier is skipped")
            return nil
        }
        if let node = resourceNode(tape, at: id, as: target, types, bytes) { return (node, target) }
        var relationship = relationship
        if model.entity(target, isKindOf: relationship.destination) { relationship.narrow(to: target, of: model) }
        return reference(relationship, tape, at: id, entity, bytes)
    }
}

/// The primary keys of JSON:API resources whose `id` is not their primary key, by entity and `id`. Other resources
/// reference them by type and `id`.
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
    /// Stores the primary key of a resource whose `id` is not its primary key. A separate mapper does this for all
    /// resources of a document before any resource is mapped.
    mutating func addKey(_ tape: JSONTape, at location: TokenLocation, _ layout: PayloadLayout, _ bytes: Bytes) throws {
        guard let types = layout.types, let id = tape.member(named: "id", of: location.token, in: bytes),
            [.string, .number].contains(tape.tokens[id].kind),
            let type = tape.member(named: "type", of: location.token, in: bytes), tape.tokens[type].kind == .string,
            let entity = entity(ofType: tape, at: type, types, bytes), types.otherwiseKeyed.contains(entity)
        else { return }
        reader.path.reset(to: listedRecords)
        listedRecords += 1
        reader.path.root = .init(location, tape)
        let checkpoint = reader.checkpoint
        let context = Context(permission: .full, isResource: true)
        try reader.read(tape, at: location.token, as: entity, context, bytes, &plan)
        let key = reader.key(of: model.entities[entity], tape, context, from: checkpoint, bytes, &plan)
        reader.removeCandidates(after: checkpoint)
        let rowKey = plan.arena.withUnsafeBufferPointer { RowKey(key, TextPool(payload: bytes, arena: $0)) }
        if let rowKey { resourceKeys[entity, tape.text(at: id, in: bytes)] = rowKey }
    }

    /// Returns the node of the resource with an `id` that is not its primary key; nil if the document has no such
    /// resource.
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
