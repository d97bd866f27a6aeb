// Resources of JSON:API, which say of which entity they are.
extension PayloadMapper {
    /// The entity of a type, looked up once for each type of a payload.
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

    /// Reads a resource: what is in `attributes` as its own members, the linkage in `relationships` as references. What the
    /// protocol has beside them (`meta`) gives way to attributes of that name, and those to the resource's `id`.
    mutating func scanResource(_ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes) throws {
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
                // Where the service has the resource: the protocol's own, unless the model asks for it.
                try scanMember(tape, key: key, of: table, keyTable, isOwn: true, bytes)
            } else if tape.isText(key, "id", in: bytes) {
                id = key
            } else if !tape.isText(key, "type", in: bytes) {
                try scanMember(tape, key: key, of: table, keyTable, bytes)
            }
            key = Int(tape.tokens[key + 1].next)
        }
        if attributes >= 0 {
            pushKey(tape, attributes)
            try scan(tape, object: attributes + 1, keyTable: keyTable, bytes)
            path.pop()
        }
        if relationships >= 0 { scanLinkage(tape, object: relationships + 1, keyTable: keyTable, bytes) }
        if id >= 0 { try scanID(tape, key: id, of: table, keyTable, bytes) }
    }

    /// - Parameter isOwn: Whether it is a member of the protocol's, which counts only where the model asks for it.
    private mutating func scanMember(
        _ tape: JSONTape, key: Int, of table: TableID, _ keyTable: Int, isOwn: Bool = false, _ bytes: Bytes
    ) throws {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        let found = keyTables.all[keyTable].entries[entry]
        if found.slot >= 0 {
            try fill(found.slot, of: table, strength: found.strength, tape, key: key, keyTable, bytes)
        } else if !isOwn || !keyTables.all[keyTable].targets[entry].isEmpty {
            try follow(entry, of: table, tape, key: key, keyTable, bytes)
        }
    }

    /// By its id others refer to the resource, whatever its attributes say.
    private mutating func scanID(
        _ tape: JSONTape, key: Int, of table: TableID, _ keyTable: Int, _ bytes: Bytes
    ) throws {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        let slot = Int(keyTables.all[keyTable].entries[entry].slot)
        // What tells the resource apart is missed nowhere.
        if keyTables.all[keyTable].targets[entry].isEmpty { return }
        guard slot >= 0, scratch[slot].kind != .absent, scratch[slot].kind != .null else {
            return try scanMember(tape, key: key, of: table, keyTable, bytes)
        }
        let attribute = scratch[slot]
        scratch[slot] = .absent
        try scanMember(tape, key: key, of: table, keyTable, bytes)
        if areContrary(attribute, scratch[slot], bytes) {
            let entity = keyTables.all[keyTable].entity
            report(
                .contradictingName, entity, bytes,
                "the resource's attributes have another \(diagnostics.name(of: slot, model.entities[entity])) than "
                    + "the resource; that of the resource counts")
        }
    }

    private mutating func pushKey(_ tape: JSONTape, _ key: Int) {
        path.push(.key(offset: tape.tokens[key].offset, length: Int(tape.tokens[key].length)))
    }

    /// A relationship without `data` says nothing about links.
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
            candidates.append(
                Candidate(
                    relationship: index, isIDKey: true, strength: strength, key: key, table: keyTable, value: data,
                    isReference: true))
        }
        // Nothing is lost of a relationship to nothing.
        let isEmpty =
            tape.tokens[data].kind == .null
            || Int(tape.tokens[data].next) == data + 1 && tape.tokens[data].kind == .array
        if !isTaken, !isEmpty { keyTables.countUnmapped(entry, keyTable) }
    }

    /// The node of a resource identifier, `{"type": …, "id": …}`, and its kind.
    mutating func resourceReference(
        _ relationship: RelationshipMapping, _ tape: JSONTape, at token: Int, _ entity: Int, _ bytes: Bytes
    ) -> (node: NodeID, kind: Int)? {
        guard let id = tape.member(named: "id", of: token, in: bytes), tape.tokens[id].kind != .object,
            let type = tape.member(named: "type", of: token, in: bytes), tape.tokens[type].kind == .string,
            let types = layout?.types
        else {
            report(.shapeDoesNotFit, entity, bytes, "the reference has no type and id; it is skipped")
            return nil
        }
        guard let target = self.entity(ofType: tape, at: type, types, bytes),
            model.entity(target, isKindOf: relationship.destination)
                || model.entity(relationship.destination, isKindOf: target)
        else {
            report(
                .unknownKind, entity, bytes,
                "the resource type '\(tape.text(at: type, in: bytes).prefix(100))' is no "
                    + "\(model.entities[relationship.destination].name); the reference is skipped")
            return nil
        }
        if let node = resourceNode(tape, at: id, as: target, types, bytes) { return (node, target) }
        var relationship = relationship
        if model.entity(target, isKindOf: relationship.destination) { relationship.narrow(to: target, of: model) }
        return reference(relationship, tape, at: id, entity, bytes)
    }
}

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
