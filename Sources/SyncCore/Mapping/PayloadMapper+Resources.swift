// Maps JSON:API resources, which state their entity as `type`.
extension PayloadMapper {
    /// Returns the node of a resource identifier, `{"type": …, "id": …}`, and the entity of its type. For an invalid
    /// identifier, reports it and returns nil.
    mutating func resourceReference(
        _ relationship: RelationshipMapping, _ tape: JSONTape, at token: Int, _ entity: Int, _ bytes: Bytes
    ) -> (node: NodeID, kind: Int)? {
        guard let id = tape.member(named: "id", of: token, in: bytes), tape.tokens[id].kind != .object,
            let type = tape.member(named: "type", of: token, in: bytes), tape.tokens[type].kind == .string
        else {
            report(
                .invalidRelationshipValue, entity, bytes, "the resource identifier has no type or no id; it is skipped")
            return nil
        }
        guard let target = reader.resources?.entity(ofType: tape, at: type, bytes),
            model.entity(target, isKindOf: relationship.destination)
                || model.entity(relationship.destination, isKindOf: target)
        else {
            report(
                .unknownDiscriminatorValue, entity, bytes,
                "the resource type '\(tape.text(at: type, in: bytes).prefix(100))' is not a type of "
                    + "\(model.entities[relationship.destination].name); the resource identifier is skipped")
            return nil
        }
        if let node = resourceNode(tape, at: id, as: target, bytes) { return (node, target) }
        var relationship = relationship
        if model.entity(target, isKindOf: relationship.destination) { relationship.narrow(to: target, of: model) }
        return reference(relationship, tape, at: id, entity, bytes)
    }
}

extension PayloadMapper {
    /// Stores the primary key of a resource of one of `entities`, whose `id` is not their primary key. A separate mapper
    /// does this for all resources of a document before any resource is mapped.
    mutating func addKey(
        _ tape: JSONTape, at location: TokenLocation, of entities: Set<Int>, _ layout: PayloadLayout, _ bytes: Bytes
    ) throws {
        guard let id = tape.member(named: "id", of: location.token, in: bytes),
            [.string, .number].contains(tape.tokens[id].kind),
            let entity = reader.resources?.entity(of: tape, at: location.token, bytes), entities.contains(entity)
        else { return }
        reader.path.reset(to: listedRecords)
        listedRecords += 1
        reader.path.root = .init(location, tape)
        let checkpoint = reader.checkpoint
        var context = Context(permission: .full, isResource: true)
        let list = layout.lists[location.list]
        if list.root >= 0, model.entity(entity, isKindOf: list.entity), let parent = plan.parent {
            context.arrival = (parent.link, parent.end.other, parent.node)
        }
        try reader.read(tape, at: location.token, as: entity, context, bytes, &plan)
        let key = reader.key(of: model.entities[entity], tape, context, from: checkpoint, bytes, &plan)
        reader.removeCandidates(after: checkpoint)
        let rowKey = plan.arena.withUnsafeBufferPointer { RowKey(key, TextPool(payload: bytes, arena: $0)) }
        if let rowKey { reader.resources?.add(rowKey, of: entity, tape, at: id, bytes) }
    }

    /// Returns the node of the resource with an `id` that is not its primary key; nil if the document has no such
    /// resource.
    private mutating func resourceNode(
        _ tape: JSONTape, at id: Int, as target: Int, _ bytes: Bytes
    ) -> NodeID? {
        let entity = model.entities[target]
        guard let keyOwner = entity.keyOwner, let key = reader.resources?.key(of: target, tape, at: id, bytes) else {
            return nil
        }
        let slot = key.slot(model.keyType(of: target), arena: &plan.arena)
        return node(forKey: slot, keyOwner: keyOwner, entity, bytes).node
    }
}

// MARK: - DocumentResources

/// The resources of a JSON:API document: the entities of their types, and the primary keys of those whose `id` is not
/// their primary key. Other resources reference them by type and `id`.
struct DocumentResources: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The `id` of a resource as bytes: two spellings of a letter are two IDs.
    private struct Resource: Hashable {
        let entity: Int
        let id: [UInt8]
    }

    private let types: ResourceTypes
    /// The resource types found so far.
    private var knownTypes: [(type: [UInt8], entity: Int?)] = []
    private var keys: [Resource: RowKey] = [:]

    init(_ types: ResourceTypes) { self.types = types }

    /// Returns the entity of a resource type; nil if no entity has the type. Each type is looked up once.
    mutating func entity(ofType tape: JSONTape, at token: Int, _ bytes: Bytes) -> Int? {
        let type = tape.tokens[token]
        let text = UnsafeBufferPointer(rebasing: bytes[type.offset..<type.offset + Int(type.length)])
        for known in knownTypes where known.type.withUnsafeBufferPointer({ TextPool.equal($0, text) }) {
            return known.entity
        }
        let entity = types.entity(of: tape.text(at: token, in: bytes))
        knownTypes.append((Array(text), entity))
        return entity
    }

    /// Returns the entity of a resource or a resource identifier; nil if no entity has its type.
    mutating func entity(of tape: JSONTape, at object: Int, _ bytes: Bytes) -> Int? {
        guard let type = tape.member(named: "type", of: object, in: bytes), tape.tokens[type].kind == .string else {
            return nil
        }
        return entity(ofType: tape, at: type, bytes)
    }

    mutating func add(_ key: RowKey, of entity: Int, _ tape: JSONTape, at id: Int, _ bytes: Bytes) {
        keys[Resource(entity: entity, id: Array(tape.text(at: id, in: bytes).utf8))] = key
    }

    /// Returns the primary key of the resource with an `id` that is not its primary key; nil if the document has no such
    /// resource.
    func key(of entity: Int, _ tape: JSONTape, at id: Int, _ bytes: Bytes) -> RowKey? {
        if keys.isEmpty { return nil }
        return keys[Resource(entity: entity, id: Array(tape.text(at: id, in: bytes).utf8))]
    }
}
