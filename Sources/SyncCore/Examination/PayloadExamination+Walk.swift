extension PayloadExamination {
    /// Walks a root record, the first value of `tape`.
    mutating func examineRoot(_ tape: JSONTape, of entity: CompiledEntity, _ bytes: Bytes, index: Int) {
        path.reset(to: index)
        examine(tape, record: 0, of: entity, bytes)
    }

    private mutating func examine(_ tape: JSONTape, record: Int, of entity: CompiledEntity, _ bytes: Bytes) {
        if filled[entity.id] == nil {
            reached.append(entity.id)
            filled[entity.id] = Array(repeating: false, count: model[entity.table].attributes.count)
        }
        let first = fillings.count
        examine(tape, object: record, table: entity.id, of: entity, from: first, bytes)
        fillings.removeLast(fillings.count - first)
    }

    /// - Parameter first: Where the fillings of the record begin.
    private mutating func examine(
        _ tape: JSONTape, object: Int, table: Int, of entity: CompiledEntity, from first: Int, _ bytes: Bytes
    ) {
        var previous = -1
        var token = object + 1
        while token < Int(tape.tokens[object].next) {
            let text = tape.tokens[token]
            let entry = keyTables.entry(text, table, after: previous, bytes)
            let key = KeyEntry(table: table, entry: entry)
            previous = entry
            path.push(.key(offset: text.offset, length: Int(text.length)))
            let targets = keyTables.all[table].targets[entry]
            if targets.isEmpty { noteUnmapped(key, entity, bytes) }
            for target in targets {
                switch target {
                case .attribute(let slot, _):
                    fill(slot, of: entity, from: first, Filling(slot: slot, key: key, value: token + 1), tape, bytes)
                case .relationship(let index, _), .ids(let index, _):
                    examine(tape, value: token + 1, by: entity.relationships[index], of: entity, bytes)
                case .nested(let nested) where tape.tokens[token + 1].kind == .object:
                    examine(tape, object: token + 1, table: nested, of: entity, from: first, bytes)
                case .nested, .ignored: break
                }
            }
            path.pop()
            token = Int(tape.tokens[token + 1].next)
        }
    }

    private mutating func fill(
        _ slot: Int, of entity: CompiledEntity, from first: Int, _ filling: Filling, _ tape: JSONTape, _ bytes: Bytes
    ) {
        filled[entity.id]?[slot] = true
        // As long as one key alone has filled a slot there is nothing to compare.
        switch keys[entity.table.index][slot] {
        case .none: keys[entity.table.index][slot] = .only(filling.key)
        case .only(filling.key): break
        default:
            keys[entity.table.index][slot] = .several
            let earlier = fillings[first...].last { $0.slot == slot }
            if let earlier, text(of: earlier.key) != text(of: filling.key),
                tape.value(at: earlier.value, in: bytes) != tape.value(at: filling.value, in: bytes)
            {
                noteConflict(slot, earlier.key, filling.key, entity, bytes)
            }
        }
        fillings.append(filling)
        if slot == entity.keySlot { noteKey(tape, at: filling.value, entity, bytes) }
    }

    private mutating func examine(
        _ tape: JSONTape, value: Int, by hop: CompiledRelationship, of entity: CompiledEntity, _ bytes: Bytes
    ) {
        let destination = model.entities[hop.destination]
        switch tape.tokens[value].kind {
        case .object: examine(tape, record: value, of: destination, bytes)
        case .array where destination.compositeKey != nil && !hop.isToMany:
            noteReference(tape, value: value, by: hop, of: entity, bytes)
        case .array:
            var element = value + 1
            var index = 0
            while element < Int(tape.tokens[value].next) {
                path.push(.index(index))
                if tape.tokens[element].kind != .array {
                    examine(tape, value: element, by: hop, of: entity, bytes)
                } else if destination.compositeKey != nil {
                    noteReference(tape, value: element, by: hop, of: entity, bytes)
                }
                path.pop()
                element = Int(tape.tokens[element].next)
                index += 1
            }
        case .number, .string:
            noteKey(tape, at: value, destination, bytes)
            noteReference(tape, value: value, by: hop, of: entity, bytes)
        case .null, .false_, .true_: break
        }
    }

    private mutating func noteReference(
        _ tape: JSONTape, value: Int, by hop: CompiledRelationship, of entity: CompiledEntity, _ bytes: Bytes
    ) {
        guard references.isWanted(hop.name, of: entity.id) else { return }
        let (path, tables) = (path, keyTables.all)
        references.note(tape.value(at: value, in: bytes), by: hop, of: entity.id, at: path.text(bytes, tables))
    }
}
