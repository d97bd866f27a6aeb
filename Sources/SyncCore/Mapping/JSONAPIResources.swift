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
        if list.root >= 0, model.entity(entity, isKindOf: list.entity), let parent = graph.parent {
            context.arrival = (parent.link, parent.end.other, parent.node)
        }
        try reader.read(tape, at: location.token, as: entity, context, bytes, &graph)
        let key = reader.key(of: model.entities[entity], tape, context, from: checkpoint, bytes, &graph)
        reader.removeCandidates(after: checkpoint)
        let rowKey = graph.arena.withUnsafeBufferPointer { RowKey(key, TextPool(payload: bytes, arena: $0)) }
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
        let slot = key.slot(model.keyType(of: target), arena: &graph.arena)
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

// MARK: - Reading a resource

// Reads JSON:API resources, with values in `attributes` and `relationships`.
extension RecordReader {
    /// Reads a resource: the members of `attributes`, and the resource linkage in `relationships`.
    ///
    /// The attributes override other members of the resource, such as `meta`. The `id` overrides the attributes if it
    /// is the JSON key of the primary key.
    mutating func scanResource(
        _ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) throws {
        let table = tables.tableOf[keyTables.all[keyTable].entity]
        var (attributes, relationships, id) = (-1, -1, -1)
        var key = object + 1
        let end = Int(tape.tokens[object].next)
        while key < end {
            let isObject = tape.tokens[key + 1].kind == .object
            if isObject, tape.isText(key, "attributes", in: bytes) {
                attributes = key
            } else if isObject, tape.isText(key, "relationships", in: bytes) {
                relationships = key
            } else if isObject, tape.isText(key, "links", in: bytes) {
                // JSON:API defines `links`, so it is ignored unless the model has a remote key for it.
                try scanMember(tape, key: key, of: table, keyTable, isOwn: true, bytes, &graph)
            } else if tape.isText(key, "id", in: bytes) {
                id = key
            } else if !tape.isText(key, "type", in: bytes) {
                try scanMember(tape, key: key, of: table, keyTable, bytes, &graph)
            }
            key = Int(tape.tokens[key + 1].next)
        }
        if attributes >= 0 {
            let first = candidates.count
            pushKey(tape, attributes)
            try scan(tape, object: attributes + 1, keyTable: keyTable, bytes, &graph)
            path.pop()
            setOuterKey(attributes, ofCandidatesFrom: first)
        }
        if relationships >= 0 { scanLinkage(tape, object: relationships + 1, keyTable: keyTable, bytes) }
        if id >= 0 { try scanID(tape, key: id, of: table, keyTable, bytes, &graph) }
    }

    /// Reads a member of a resource.
    ///
    /// - Parameter isOwn: Whether JSON:API defines the member. It is then read only if the model has a remote key for
    ///   it.
    private mutating func scanMember(
        _ tape: JSONTape, key: Int, of table: TableID, _ keyTable: Int, isOwn: Bool = false, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) throws {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        let found = keyTables.all[keyTable].entries[entry]
        if found.slot >= 0 {
            try fill(found.slot, of: table, strength: found.strength, tape, key: key, keyTable, bytes, &graph)
        } else if !isOwn || !keyTables.all[keyTable].targets[entry].isEmpty {
            try fillTargets(entry, of: table, tape, key: key, keyTable, bytes, &graph)
        }
    }

    /// Reads the `id`. If it is the JSON key of the primary key, it overrides the attributes, because other resources
    /// reference the resource by its `id`. Otherwise the attributes override it, and it is never read into a primary
    /// key with another remote key.
    private mutating func scanID(
        _ tape: JSONTape, key: Int, of table: TableID, _ keyTable: Int, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) throws {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        let found = keyTables.all[keyTable].entries[entry]
        // An `id` that the model does not read is not reported as unmapped.
        if keyTables.all[keyTable].targets[entry].isEmpty { return }
        guard found.slot >= 0 else { return try scanMember(tape, key: key, of: table, keyTable, bytes, &graph) }
        let slot = found.slot
        let entity = model.entities[keyTables.all[keyTable].entity]
        let isJSONKey = found.strength == 0 || model[table].attributes[slot].remoteKey == nil
        let attribute = row[slot]
        let isGiven = attribute.kind != .absent && attribute.kind != .null
        guard isJSONKey, slot == entity.keySlot else {
            if isGiven || (!isJSONKey && entity.keySlots.contains(slot)) { return }
            return try scanMember(tape, key: key, of: table, keyTable, bytes, &graph)
        }
        row.clear(slot)
        try scanMember(tape, key: key, of: table, keyTable, bytes, &graph)
        if isGiven, graph.differ(attribute, row[slot], bytes) {
            report(
                .objectKeyMismatch, entity.id, bytes,
                "'attributes' has a different \(diagnostics.name(of: slot, entity)) than the resource; "
                    + "the value of the resource is used")
        }
    }

    /// Reads the resource linkage of each relationship, its member `data`. A relationship without `data` asserts no
    /// links.
    private mutating func scanLinkage(_ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes) {
        var key = object + 1
        let end = Int(tape.tokens[object].next)
        while key < end {
            let value = key + 1
            if tape.tokens[value].kind == .object, let data = tape.member(named: "data", of: value, in: bytes) {
                addLinkage(tape, key: key, data, keyTable, bytes)
            }
            key = Int(tape.tokens[value].next)
        }
    }

    private mutating func addLinkage(_ tape: JSONTape, key: Int, _ data: Int, _ keyTable: Int, _ bytes: Bytes) {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        var isTaken = false
        for case .relationship(let index, let strength) in keyTables.all[keyTable].targets[entry] {
            isTaken = true
            addCandidate(index, isIDKey: true, strength, key: key, keyTable, value: data, isReference: true)
        }
        // An empty relationship is not reported as unmapped, because no link is lost.
        let isEmpty =
            tape.tokens[data].kind == .null
            || Int(tape.tokens[data].next) == data + 1 && tape.tokens[data].kind == .array
        if !isTaken, !isEmpty { keyTables.countUnmapped(entry, keyTable) }
    }
}
