// Reads JSON:API resources, with values in `attributes` and `relationships`.
extension RecordReader {
    /// Reads a resource: the members of `attributes`, and the resource linkage in `relationships`.
    ///
    /// The attributes override other members of the resource, such as `meta`. The `id` overrides the attributes if it
    /// is the JSON key of the primary key.
    mutating func scanResource(
        _ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes, _ plan: inout PayloadGraph
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
                try scanMember(tape, key: key, of: table, keyTable, isOwn: true, bytes, &plan)
            } else if tape.isText(key, "id", in: bytes) {
                id = key
            } else if !tape.isText(key, "type", in: bytes) {
                try scanMember(tape, key: key, of: table, keyTable, bytes, &plan)
            }
            key = Int(tape.tokens[key + 1].next)
        }
        if attributes >= 0 {
            let first = candidates.count
            pushKey(tape, attributes)
            try scan(tape, object: attributes + 1, keyTable: keyTable, bytes, &plan)
            path.pop()
            setOuterKey(attributes, ofCandidatesFrom: first)
        }
        if relationships >= 0 { scanLinkage(tape, object: relationships + 1, keyTable: keyTable, bytes) }
        if id >= 0 { try scanID(tape, key: id, of: table, keyTable, bytes, &plan) }
    }

    /// Reads a member of a resource.
    ///
    /// - Parameter isOwn: Whether JSON:API defines the member. It is then read only if the model has a remote key for
    ///   it.
    private mutating func scanMember(
        _ tape: JSONTape, key: Int, of table: TableID, _ keyTable: Int, isOwn: Bool = false, _ bytes: Bytes,
        _ plan: inout PayloadGraph
    ) throws {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        let found = keyTables.all[keyTable].entries[entry]
        if found.slot >= 0 {
            try fill(found.slot, of: table, strength: found.strength, tape, key: key, keyTable, bytes, &plan)
        } else if !isOwn || !keyTables.all[keyTable].targets[entry].isEmpty {
            try fillTargets(entry, of: table, tape, key: key, keyTable, bytes, &plan)
        }
    }

    /// Reads the `id`. If it is the JSON key of the primary key, it overrides the attributes, because other resources
    /// reference the resource by its `id`. Otherwise the attributes override it, and it is never read into a primary
    /// key with another remote key.
    private mutating func scanID(
        _ tape: JSONTape, key: Int, of table: TableID, _ keyTable: Int, _ bytes: Bytes, _ plan: inout PayloadGraph
    ) throws {
        let entry = keyTables.entry(tape.tokens[key], keyTable, after: -1, bytes)
        let found = keyTables.all[keyTable].entries[entry]
        // An `id` that the model does not read is not reported as unmapped.
        if keyTables.all[keyTable].targets[entry].isEmpty { return }
        guard found.slot >= 0 else { return try scanMember(tape, key: key, of: table, keyTable, bytes, &plan) }
        let slot = found.slot
        let entity = model.entities[keyTables.all[keyTable].entity]
        let isJSONKey = found.strength == 0 || model[table].attributes[slot].remoteKey == nil
        let attribute = row[slot]
        let isGiven = attribute.kind != .absent && attribute.kind != .null
        guard isJSONKey, slot == entity.keySlot else {
            if isGiven || (!isJSONKey && entity.keySlots.contains(slot)) { return }
            return try scanMember(tape, key: key, of: table, keyTable, bytes, &plan)
        }
        row.clear(slot)
        try scanMember(tape, key: key, of: table, keyTable, bytes, &plan)
        if isGiven, plan.differ(attribute, row[slot], bytes) {
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
