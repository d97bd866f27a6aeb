// Reads the primary keys of records. A key is one attribute, or has parts. A part is an attribute, or the key of a row
// that the record references or that lists the record.
extension RecordReader {
    /// A key part that the enclosing row supplies: the index of the part, and that row.
    typealias SuppliedPart = (index: Int, owner: PayloadGraph.RowReference)

    /// Returns the key of the record in `row`; absent or null if the record has none.
    ///
    /// - Parameter checkpoint: The checkpoint from before the record was read. The record's candidates start there.
    @inline(__always)
    mutating func key(
        of entity: CompiledEntity, _ tape: JSONTape, _ context: PayloadMapper.Context, from checkpoint: Checkpoint,
        _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> PackedValue {
        if let slot = entity.keySlot { return row[slot] }
        guard let key = entity.compositeKey else { return .absent }
        return compositeKey(key, of: entity, tape, context, from: checkpoint, bytes, &graph)
    }

    private mutating func compositeKey(
        _ key: CompositeKey, of entity: CompiledEntity, _ tape: JSONTape, _ context: PayloadMapper.Context,
        from checkpoint: Checkpoint, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> PackedValue {
        keyText.removeAll()
        keyText.open()
        for part in key.parts {
            switch part {
            case .attribute(let slot):
                guard append(row[slot], bytes, &graph) else {
                    missingPart = diagnostics.name(of: slot, entity)
                    return .absent
                }
            case .relationship(let index):
                guard appendTarget(index, of: entity, tape, context, from: checkpoint, bytes, &graph) else {
                    missingPart = entity.relationships[index].name
                    return .absent
                }
            }
        }
        keyText.close()
        guard hasStorableLength else {
            hasUnreadableKey = true
            missingPart = "key of at most \(tables.keyLength) bytes"
            return .absent
        }
        return Coercion.append(keyText.bytes, to: &graph.arena)
    }

    /// Whether the store can keep a composite key with the text in `keyText`.
    private var hasStorableLength: Bool { keyText.bytes.count <= tables.keyLength }

    /// Ignores null for the parts of a composite key, and reports each. The caller states the key, and a row must keep
    /// all parts of its key.
    ///
    /// - Parameter checkpoint: The checkpoint from before the record was read.
    /// - Throws: ``SyncError`` `typeMismatch` in a strict sync.
    mutating func ignoreNullParts(
        ofKeyOf entity: CompiledEntity, _ tape: JSONTape, at object: Int, from checkpoint: Checkpoint, _ bytes: Bytes
    ) throws {
        guard let key = entity.compositeKey else { return }
        for part in key.parts {
            switch part {
            case .attribute(let slot):
                guard row[slot].kind == .null else { continue }
                row[slot] = .absent
                var token = find([part], tape, object: object, entity, bytes, nulls: true)[0]
                // A transformer may have made null of another value.
                if token < 0 { token = find([part], tape, object: object, entity, bytes)[0] }
                try reportNullPart(
                    .typeMismatch, diagnostics.name(of: slot, entity), entity, tape, at: token, bytes)
            case .relationship(let relationship):
                for index in checkpoint.candidates..<candidates.count {
                    let candidate = candidates[index]
                    guard candidate.isChosen, candidate.relationship == relationship,
                        tape.tokens[candidate.value].kind == .null
                    else { continue }
                    ignoreCandidate(index)
                    try reportNullPart(
                        .invalidRelationshipValue, entity.relationships[relationship].name, entity, tape,
                        at: candidate.value, bytes)
                }
            }
        }
    }

    /// - Parameter token: The token of the value; -1 if it is not known.
    private mutating func reportNullPart(
        _ kind: SyncDiagnostic.Kind, _ name: String, _ entity: CompiledEntity, _ tape: JSONTape, at token: Int,
        _ bytes: Bytes
    ) throws {
        let message = "null cannot be the value of \(name), a part of the key; the part stays unchanged"
        if token > 0 { pushKey(tape, token - 1) }
        defer { if token > 0 { path.pop() } }
        if diagnostics.isStrict { throw diagnostics.error(entity.id, path: pathText(bytes), message) }
        report(kind, entity.id, bytes, message)
    }

    /// Returns whether the record in `row` has at least one attribute of its composite key.
    func hasSomePart(_ entity: CompiledEntity) -> Bool {
        entity.compositeKey?.slots.contains { ![.absent, .null].contains(row[$0].kind) } ?? false
    }

    /// Appends the key of the row that a relationship references. It is the row through which the record was reached,
    /// or the row in the relationship's value. Returns false if there is no such key.
    private mutating func appendTarget(
        _ index: Int, of entity: CompiledEntity, _ tape: JSONTape, _ context: PayloadMapper.Context,
        from checkpoint: Checkpoint, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> Bool {
        let relationship = tables.relationships[entity.id][index]
        if let arrival = context.arrival, arrival.link == relationship.link,
            arrival.end == relationship.end || relationship.isSymmetric
        {
            let table = model[relationship.link].side(relationship.end.other).table
            return appendKey(of: .init(table: table, node: arrival.owner), bytes, &graph)
        }
        guard
            let candidate = candidates[checkpoint.candidates...].first(where: {
                $0.isChosen && $0.relationship == index
            })
        else { return false }
        let destination = model.entities[relationship.destination]
        guard candidate.isReference else {
            return appendKey(tape, at: candidate.value, of: destination, bytes, &graph)
        }
        if let (key, target) = resourceKey(tape, at: candidate.value, of: destination, bytes, &graph) {
            return append(key, isComposite: model.entities[target].compositeKey != nil, bytes, &graph)
        }
        return appendKey(tape, at: id(tape, of: candidate.value, bytes), of: destination, bytes, &graph)
    }

    // MARK: Resource identifiers

    /// Returns the primary key of the resource that an identifier references, and the entity of that resource. Returns
    /// nil if the document has no such resource, or if the `id` of the resource is its primary key.
    mutating func resourceKey(
        _ tape: JSONTape, at identifier: Int, of destination: CompiledEntity, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) -> (key: PackedValue, entity: Int)? {
        guard tape.tokens[identifier].kind == .object,
            let id = tape.member(named: "id", of: identifier, in: bytes), tape.tokens[id].kind != .object,
            let entity = resources?.entity(of: tape, at: identifier, bytes),
            model.entity(entity, isKindOf: destination.id) || model.entity(destination.id, isKindOf: entity),
            let key = resources?.key(of: entity, tape, at: id, bytes)
        else { return nil }
        return (key.slot(model.keyType(of: entity), arena: &graph.arena), entity)
    }

    /// Returns the token of the `id` of a resource identifier; the given token for any other value.
    func id(_ tape: JSONTape, of identifier: Int, _ bytes: Bytes) -> Int {
        guard tape.tokens[identifier].kind == .object,
            let id = tape.member(named: "id", of: identifier, in: bytes), tape.tokens[id].kind != .object
        else { return identifier }
        return id
    }

    // MARK: IDs

    /// Returns the key that an ID states; nil if the ID is not a valid key of the destination.
    ///
    /// - Parameter owner: The row that has the list. If that row is a part of the key, the ID can omit the part.
    mutating func id(
        _ tape: JSONTape, at token: Int, of destination: CompiledEntity, _ relationship: RelationshipMapping,
        listedBy owner: PayloadGraph.RowReference?, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> PackedValue? {
        if let slot = destination.keySlot {
            let key = value(tape, at: token, for: slot, of: destination.table, bytes, &graph)
            return key?.kind == .null ? nil : key
        }
        guard destination.compositeKey != nil else { return nil }
        keyText.removeAll()
        let supplied = relationship.suppliedPart.flatMap { part in owner.map { (index: part, owner: $0) } }
        guard appendKey(tape, at: token, of: destination, bytes, &graph, supplied: supplied) else { return nil }
        let named = keyText.bytes
        if supplied != nil {
            // If the ID includes an owner, it must be the row that has the list.
            keyText.removeAll()
            if appendKey(tape, at: token, of: destination, bytes, &graph), keyText.bytes != named { return nil }
        }
        return Coercion.append(named, to: &graph.arena)
    }

    // MARK: Records that are not mapped

    /// Returns the key in an ID, or in a record that is not mapped; nil if a part is missing or invalid.
    mutating func key(
        at token: Int, of entity: CompiledEntity, _ tape: JSONTape, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> PackedValue? {
        guard let slot = entity.keySlot else {
            keyText.removeAll()
            guard appendKey(tape, at: token, of: entity, bytes, &graph) else { return nil }
            return Coercion.append(keyText.bytes, to: &graph.arena)
        }
        let keyToken = tape.tokens[token].kind == .object ? find(slot, tape, object: token, entity, bytes) : token
        guard keyToken >= 0, let key = value(tape, at: keyToken, for: slot, of: entity.table, bytes, &graph),
            key.kind != .null
        else { return nil }
        return key
    }

    /// Returns the key of a skipped record, with the state of the key. The key is nil unless it was read.
    mutating func key(
        ofSkipped object: Int, as entity: CompiledEntity, _ tape: JSONTape, _ context: PayloadMapper.Context,
        _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> (key: PackedValue?, state: RootKeyState) {
        guard let slot = entity.keySlot else {
            guard entity.compositeKey != nil else { return (nil, .lacking) }
            let key = compositeKey(ofSkipped: object, as: entity, tape, context, bytes, &graph)
            return (key, key == nil ? .unreadable : .read)
        }
        let token = keyToken(ofSkipped: object, slot, as: entity, tape, context, bytes)
        guard token >= 0 else { return (nil, .lacking) }
        guard let key = value(tape, at: token, for: slot, of: entity.table, bytes, &graph) else {
            return (nil, .unreadable)
        }
        return key.kind == .null ? (nil, .lacking) : (key, .read)
    }

    private mutating func keyToken(
        ofSkipped object: Int, _ slot: Int, as entity: CompiledEntity, _ tape: JSONTape,
        _ context: PayloadMapper.Context, _ bytes: Bytes
    ) -> Int {
        if context.name >= 0, Int(context.nameSlot) == slot { return Int(context.name) }
        let token = find(slot, tape, object: object, entity, bytes)
        guard context.isResource else { return token }
        let isID = token >= 0 && token == tape.member(named: "id", of: object, in: bytes)
        let remoteKey = model[entity.table].attributes[slot].remoteKey
        if isID, remoteKey == nil || remoteKey == "id" { return token }
        guard let attributes = tape.member(named: "attributes", of: object, in: bytes),
            tape.tokens[attributes].kind == .object
        else { return isID ? -1 : token }
        let inside = find(slot, tape, object: attributes, entity, bytes)
        return inside < 0 && !isID ? token : inside
    }

    private mutating func compositeKey(
        ofSkipped object: Int, as entity: CompiledEntity, _ tape: JSONTape, _ context: PayloadMapper.Context,
        _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> PackedValue? {
        let supplied = context.arrival.flatMap { arrival -> SuppliedPart? in
            let part = entity.compositeKey?.parts.firstIndex { part in
                guard case .relationship(let index) = part else { return false }
                let way = entity.relationships[index]
                return way.link == arrival.link && way.end == arrival.end
            }
            let table = model[arrival.link].side(arrival.end.other).table
            return part.map { ($0, .init(table: table, node: arrival.owner)) }
        }
        keyText.removeAll()
        let name = context.name >= 0 ? (slot: Int(context.nameSlot), token: Int(context.name)) : nil
        guard appendKey(tape, at: object, of: entity, bytes, &graph, supplied: supplied, name: name) else { return nil }
        return Coercion.append(keyText.bytes, to: &graph.arena)
    }

    // MARK: Parts

    /// Appends the key in a value, which is an ID or an object. Returns false if a part is missing or invalid, or if the
    /// key is too long for the store.
    ///
    /// - Parameters:
    ///   - supplied: The part that the enclosing row supplies; nil if there is none.
    ///   - name: The token of the value's object key, and the slot that the name fills. The name overrides a value in
    ///     the object.
    private mutating func appendKey(
        _ tape: JSONTape, at token: Int, of entity: CompiledEntity, _ bytes: Bytes, _ graph: inout PayloadGraph,
        supplied: SuppliedPart? = nil, name: (slot: Int, token: Int)? = nil
    ) -> Bool {
        if let slot = entity.keySlot {
            guard tape.tokens[token].kind == .object else {
                return appendValue(tape, at: token, of: slot, entity, bytes, &graph)
            }
            let found = find(slot, tape, object: token, entity, bytes)
            return found >= 0 && appendValue(tape, at: found, of: slot, entity, bytes, &graph)
        }
        guard let key = entity.compositeKey,
            let tokens = partTokens(key, tape, at: token, of: entity, bytes, supplied: supplied?.index)
        else { return false }
        keyText.open()
        for (index, part) in key.parts.enumerated() {
            if let supplied, supplied.index == index {
                guard appendKey(of: supplied.owner, bytes, &graph) else { return false }
                continue
            }
            if let name, case .attribute(let slot) = part, slot == name.slot {
                guard appendValue(tape, at: name.token, of: name.slot, entity, bytes, &graph) else { return false }
                continue
            }
            guard tokens[index] >= 0 else { return false }
            switch part {
            case .attribute(let slot):
                guard appendValue(tape, at: tokens[index], of: slot, entity, bytes, &graph) else { return false }
            case .relationship(let relationship):
                let target = model.entities[entity.relationships[relationship].destination]
                guard appendKey(tape, at: tokens[index], of: target, bytes, &graph) else { return false }
            }
        }
        keyText.close()
        return hasStorableLength
    }

    private mutating func appendValue(
        _ tape: JSONTape, at token: Int, of slot: Int, _ entity: CompiledEntity, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) -> Bool {
        guard let value = value(tape, at: token, for: slot, of: entity.table, bytes, &graph) else { return false }
        return append(value, bytes, &graph)
    }

    /// Appends the key of a node. Returns false if the node has no key.
    private mutating func appendKey(of row: PayloadGraph.RowReference, _ bytes: Bytes, _ graph: inout PayloadGraph)
        -> Bool
    {
        let known = graph[row.table].nodes[row.node.index]
        return append(
            known.key, isComposite: model.entities[Int(known.entity)].compositeKey != nil, bytes, &graph)
    }

    private mutating func append(
        _ slot: PackedValue, isComposite: Bool = false, _ bytes: Bytes, _ graph: inout PayloadGraph
    )
        -> Bool
    {
        graph.arena.withUnsafeBufferPointer {
            keyText.append(slot, isComposite: isComposite, TextPool(payload: bytes, arena: $0))
        }
    }

    /// Returns the tokens of the parts of a key, with -1 for a missing part; nil if the value is not a key.
    ///
    /// - Parameter supplied: The index of the part that the value can omit; nil if there is none.
    private mutating func partTokens(
        _ key: CompositeKey, _ tape: JSONTape, at token: Int, of entity: CompiledEntity, _ bytes: Bytes, supplied: Int?
    ) -> [Int]? {
        let count = key.parts.count
        switch tape.tokens[token].kind {
        case .object: return find(key.parts, tape, object: token, entity, bytes)
        case .array:
            var elements: [Int] = []
            var element = token + 1
            while element < Int(tape.tokens[token].next), elements.count <= count {
                elements.append(element)
                element = Int(tape.tokens[element].next)
            }
            if elements.count == count { return elements }
            guard let supplied, elements.count == count - 1 else { return nil }
            elements.insert(-1, at: supplied)
            return elements
        default:
            if count == 1 { return [token] }
            guard let supplied, count == 2 else { return nil }
            return supplied == 0 ? [-1, token] : [token, -1]
        }
    }

    /// Returns the token of an attribute's value in an object, by the naming rules of the model; -1 if it is missing or
    /// null.
    private mutating func find(
        _ slot: Int, _ tape: JSONTape, object: Int, _ entity: CompiledEntity, _ bytes: Bytes
    ) -> Int {
        find([.attribute(slot)], tape, object: object, entity, bytes)[0]
    }

    /// - Parameter nulls: Whether to find only nulls. If false, finds only other values.
    private mutating func find(
        _ parts: [CompositeKey.Part], _ tape: JSONTape, object: Int, _ entity: CompiledEntity, _ bytes: Bytes,
        nulls: Bool = false
    ) -> [Int] {
        var found = parts.map { _ in (token: -1, strength: Int.max) }
        find(parts, tape, object: object, keyTable: entity.id, bytes, nulls, &found)
        return found.map(\.token)
    }

    private mutating func find(
        _ parts: [CompositeKey.Part], _ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes, _ nulls: Bool,
        _ found: inout [(token: Int, strength: Int)]
    ) {
        var key = object + 1
        var previous = -1
        while key < Int(tape.tokens[object].next) {
            let entry = keyTables.entry(tape.tokens[key], keyTable, after: previous, bytes)
            previous = entry
            for target in keyTables.all[keyTable].targets[entry] {
                if case .nested(let nested) = target, tape.tokens[key + 1].kind == .object {
                    find(parts, tape, object: key + 1, keyTable: nested, bytes, nulls, &found)
                }
                for (index, part) in parts.enumerated() {
                    guard let strength = target.strength(for: part), strength <= found[index].strength,
                        (tape.tokens[key + 1].kind == .null) == nulls
                    else { continue }
                    found[index] = (key + 1, strength)
                }
            }
            key = Int(tape.tokens[key + 1].next)
        }
    }
}
