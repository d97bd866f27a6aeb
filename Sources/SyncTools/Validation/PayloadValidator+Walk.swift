import SyncCore

extension PayloadValidator {
    /// Validates the root record at a token of the tape.
    mutating func examineRoot(
        _ tape: JSONTape, at record: Int = 0, of entity: CompiledEntity, _ bytes: Bytes, index: Int,
        root: PayloadPath.Root? = nil, nameSlot: Int = -1
    ) {
        path.reset(to: index)
        path.root = root
        if !hasParent { recordOwner(tape, record: record, of: entity, bytes) }
        examine(tape, record: record, of: entity, nameSlot: nameSlot, bytes)
    }

    /// Records the path of a root record that lacks the reference to its owner, although the owner is part of its key.
    private mutating func recordOwner(_ tape: JSONTape, record: Int, of entity: CompiledEntity, _ bytes: Bytes) {
        let owners = entity.compositeKey?.parts.compactMap { part in
            if case .relationship(let index) = part { index } else { nil }
        }
        guard let owners, !owners.isEmpty, ownerless.count < SyncResult.diagnosticLimit else { return }
        var said: Set<Int> = []
        var token = record + 1
        while token < Int(tape.tokens[record].next) {
            let entry = keyTables.entry(tape.tokens[token], entity.id, after: -1, bytes)
            for target in keyTables.all[entity.id].targets[entry] {
                switch target {
                case .relationship(let index, _), .ids(let index, _): said.insert(index)
                default: break
                }
            }
            token = Int(tape.tokens[token + 1].next)
        }
        guard let missing = owners.first(where: { !said.contains($0) }) else { return }
        ownerless[path.text(bytes, keyTables.all)] = model.entities[entity.relationships[missing].destination].name
    }

    /// Validates a record.
    ///
    /// - Parameter nameSlot: The slot that the object key of the record is read into; -1 if there is none.
    private mutating func examine(
        _ tape: JSONTape, record: Int, of asked: CompiledEntity, nameSlot: Int = -1, _ bytes: Bytes
    ) {
        // The plan reports a record of an unknown entity, so the validator skips it.
        guard case .entity(let id) = kinds.entity(of: record, tape, as: asked.id, bytes) else { return }
        let entity = model.entities[id]
        if filled[entity.id] == nil {
            reached.append(entity.id)
            filled[entity.id] = Array(repeating: false, count: model[entity.table].attributes.count)
        }
        if nameSlot >= 0 { filled[entity.id]?[nameSlot] = true }
        let first = fillings.count
        examine(tape, object: record, table: entity.id, of: entity, from: first, bytes)
        fillings.removeLast(fillings.count - first)
    }

    /// Validates the members of an object.
    ///
    /// - Parameter first: The index in `fillings` of the first attribute value of the record.
    private mutating func examine(
        _ tape: JSONTape, object: Int, table: Int, of entity: CompiledEntity, from first: Int, _ bytes: Bytes
    ) {
        var previous = -1
        var token = object + 1
        var links: [Int: Linking] = [:]
        let destinations = siblingKinds(tape, object: object, table: table, of: entity, bytes)
        while token < Int(tape.tokens[object].next) {
            let text = tape.tokens[token]
            let entry = keyTables.entry(text, table, after: previous, bytes)
            let key = KeyEntry(table: table, entry: entry)
            previous = entry
            path.push(.key(offset: text.offset, length: Int(text.length)))
            let targets = keyTables.all[table].targets[entry]
            if targets.isEmpty { addUnmapped(key, tape, at: token + 1, entity, bytes) }
            for target in targets {
                switch target {
                case .attribute(let slot, _):
                    if tape.tokens[token + 1].kind == .object, keyTables.isOnlyAround(slot, entry, table) { continue }
                    fill(slot, of: entity, from: first, Filling(slot: slot, key: key, value: token + 1), tape, bytes)
                case .relationship(let index, _), .ids(let index, _):
                    let hop = entity.relationships[index]
                    setGiven(hop)
                    if !hop.isToMany { compare(index, of: entity, key, tape, at: token + 1, &links, bytes) }
                    // The plan reports a value of an unknown entity, so the validator skips it.
                    guard let kind = destinations[index, default: model.entities[hop.destination]] else { continue }
                    examine(tape, value: token + 1, by: hop, as: kind, of: entity, bytes)
                case .nested(let nested):
                    for object in keyTables.objects(nested, tape, at: token + 1, bytes) {
                        examine(tape, object: object, table: nested, of: entity, from: first, bytes)
                    }
                    guard tape.tokens[token + 1].kind == .null else { continue }
                    let members = keyTables.all[nested].members
                    for slot in members.slots { filled[entity.id]?[slot] = true }
                    for index in members.relationships { setGiven(entity.relationships[index]) }
                case .kind, .ignored: break
                }
            }
            path.pop()
            token = Int(tape.tokens[token + 1].next)
        }
    }

    private mutating func setGiven(_ hop: CompiledRelationship) {
        givenRelationships.insert(RelationshipName(entity: hop.owner, name: hop.name))
    }

    private mutating func fill(
        _ slot: Int, of entity: CompiledEntity, from first: Int, _ filling: Filling, _ tape: JSONTape, _ bytes: Bytes
    ) {
        filled[entity.id]?[slot] = true
        // If only one key has filled the slot so far, there is nothing to compare.
        switch keys[entity.table.index][slot] {
        case .none: keys[entity.table.index][slot] = .only(filling.key)
        case .only(filling.key): break
        default:
            keys[entity.table.index][slot] = .several
            let earlier = fillings[first...].last { $0.slot == slot }
            if let earlier, text(of: earlier.key) != text(of: filling.key),
                tape.value(at: earlier.value, in: bytes) != tape.value(at: filling.value, in: bytes)
            {
                addConflict(slot, earlier.key, filling.key, entity, bytes)
            }
        }
        fillings.append(filling)
        if slot == entity.keySlot { addKey(tape, at: filling.value, entity, bytes) }
    }

    /// The ID of the referenced row that a key of the record gives for a to-one relationship.
    private struct Linking {
        let key: KeyEntry
        let id: StoredValue
    }

    /// Adds a diagnostic if two keys of the record, such as `user` and `user_id`, reference different rows.
    private mutating func compare(
        _ index: Int, of entity: CompiledEntity, _ key: KeyEntry, _ tape: JSONTape, at value: Int,
        _ links: inout [Int: Linking], _ bytes: Bytes
    ) {
        let hop = entity.relationships[index]
        guard let id = id(tape, at: value, of: model.entities[hop.destination], bytes) else { return }
        if let earlier = links[index], text(of: earlier.key) != text(of: key), earlier.id != id {
            addConflict(hop, earlier.key, key, entity, bytes)
        }
        links[index] = Linking(key: key, id: id)
    }

    /// Returns the primary key of a row that the payload gives by ID or as a record; nil for a missing, composite or
    /// unreadable key.
    private mutating func id(
        _ tape: JSONTape, at value: Int, of entity: CompiledEntity, _ bytes: Bytes
    ) -> StoredValue? {
        guard let slot = entity.keySlot else { return nil }
        var found = tape.tokens[value].kind == .object ? -1 : value
        var member = value + 1
        while found < 0, member < Int(tape.tokens[value].next) {
            let entry = keyTables.entry(tape.tokens[member], entity.id, after: -1, bytes)
            if keyTables.all[entity.id].entries[entry].slot == slot { found = member + 1 }
            member = Int(tape.tokens[member + 1].next)
        }
        guard found >= 0 else { return nil }
        let type = model[entity.table].attributes[slot].type
        let stored = Coercion.storedValue(tape.value(at: found, in: bytes), as: type)
        return stored?.isNull == false ? stored : nil
    }

    /// Returns the entities that type members beside relationships give, by the index of the relationship. An entity is
    /// nil if the type is unknown.
    private mutating func siblingKinds(
        _ tape: JSONTape, object: Int, table: Int, of entity: CompiledEntity, _ bytes: Bytes
    ) -> [Int: CompiledEntity?] {
        guard !kinds.isEmpty else { return [:] }
        var found: [Int: CompiledEntity?] = [:]
        var token = object + 1
        while token < Int(tape.tokens[object].next) {
            let entry = keyTables.entry(tape.tokens[token], table, after: -1, bytes)
            for case .kind(let index) in keyTables.all[table].targets[entry] where index >= 0 {
                switch kinds.entity(
                    beside: tape.tokens[token + 1], of: entity.relationships[index].destination, bytes)
                {
                case .any: break
                case .entity(let kind): found[index] = model.entities[kind]
                case .unknown: found.updateValue(nil, forKey: index)
                }
            }
            token = Int(tape.tokens[token + 1].next)
        }
        return found
    }

    private mutating func examine(
        _ tape: JSONTape, value: Int, by hop: CompiledRelationship, as destination: CompiledEntity,
        of entity: CompiledEntity, _ bytes: Bytes
    ) {
        switch tape.tokens[value].kind {
        case .object:
            guard let list = nestedList(tape, at: value, hop, bytes) else {
                // The plan reports that the value does not fit.
                if hop.isToMany, hop.relationship.keyedBy != nil { return }
                return examine(tape, record: value, of: destination, bytes)
            }
            var place = list.token + 1
            var index = 0
            while place < Int(tape.tokens[list.token].next) {
                let isMember = list.layout == .members
                var record = isMember ? place + 1 : place
                if list.layout == .edges { record = tape.member(named: "node", of: place, in: bytes) ?? place }
                if tape.tokens[record].kind == .object {
                    let nameSlot = isMember ? hop.relationship.keyedBy?.slot(in: destination, of: model) ?? -1 : -1
                    path.push(.init(list.layout, tape, at: place, index))
                    examine(tape, record: record, of: destination, nameSlot: nameSlot, bytes)
                    path.pop()
                }
                place = Int(tape.tokens[isMember ? place + 1 : place].next)
                index += 1
            }
        case .array where destination.compositeKey != nil && !hop.isToMany:
            recordReference(tape, value: value, by: hop, of: entity, bytes)
        case .array:
            var element = value + 1
            var index = 0
            while element < Int(tape.tokens[value].next) {
                path.push(.index(index))
                if tape.tokens[element].kind != .array {
                    examine(tape, value: element, by: hop, as: destination, of: entity, bytes)
                } else if destination.compositeKey != nil {
                    recordReference(tape, value: element, by: hop, of: entity, bytes)
                }
                path.pop()
                element = Int(tape.tokens[element].next)
                index += 1
            }
        case .number, .string:
            addKey(tape, at: value, destination, bytes)
            recordReference(tape, value: value, by: hop, of: entity, bytes)
        case .null, .false_, .true_: break
        }
    }

    private mutating func recordReference(
        _ tape: JSONTape, value: Int, by hop: CompiledRelationship, of entity: CompiledEntity, _ bytes: Bytes
    ) {
        guard references.isRequested(hop.name, of: entity.id) else { return }
        let (path, tables) = (path, keyTables.all)
        references.add(tape.value(at: value, in: bytes), by: hop, of: entity.id, at: path.text(bytes, tables))
    }

    private func nestedList(
        _ tape: JSONTape, at value: Int, _ hop: CompiledRelationship, _ bytes: Bytes
    ) -> NestedListLayout? {
        guard hop.isToMany else { return nil }
        let connection = readsConnections ? NestedListLayout(connection: value, tape, in: bytes) : nil
        if let connection { return connection }
        return hop.relationship.keyedBy == nil ? nil : NestedListLayout(membersOf: value, tape)
    }
}
