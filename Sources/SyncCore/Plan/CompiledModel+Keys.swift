// Keys as callers and payloads write them: a value; of several parts a list in the order of the model, or an object.
extension CompiledModel {
    /// The key that JSON is for an entity; nil if it is none.
    package func rowKey(_ json: JSONValue, of entity: CompiledEntity) -> RowKey? {
        var arena: [UInt8] = []
        guard let slot = keySlot(json, of: entity, &arena) else { return nil }
        return arena.withUnsafeBufferPointer {
            RowKey(slot, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0))
        }
    }

    /// The key of the parts that an object has, and those of another key for the others.
    package func key(of entity: CompiledEntity, in object: JSONValue, else current: RowKey) -> RowKey {
        guard let key = entity.compositeKey, case .array(let parts) = current.recordKey(keyType(of: entity.id)).json
        else {
            return rowKey(object, of: entity) ?? current
        }
        let given = zip(key.parts, parts).map { part, known in
            value(of: part, object, entity).flatMap { $0 == .null ? nil : $0 } ?? known
        }
        return rowKey(.array(given), of: entity) ?? current
    }

    /// The same as a staged value, whose text is in the arena.
    func keySlot(_ json: JSONValue, of entity: CompiledEntity, _ arena: inout [UInt8]) -> Slot? {
        if let slot = entity.keySlot {
            var json = json
            if case .object = json { json = value(ofPart: slot, json, entity) ?? .null }
            guard let value = Coercion.storedValue(json, as: self[entity.table].attributes[slot].type), !value.isNull
            else { return nil }
            return value.slot(arena: &arena)
        }
        var text = KeyPartsText()
        guard append(json, of: entity, to: &text) else { return nil }
        return Coercion.append(text.bytes, to: &arena)
    }

    /// - Returns: Whether it is a key of several parts.
    private func append(_ json: JSONValue, of entity: CompiledEntity, to text: inout KeyPartsText) -> Bool {
        guard let key = entity.compositeKey, let values = values(of: key, json, entity) else { return false }
        text.open()
        for (part, value) in zip(key.parts, values) {
            switch part {
            case .attribute(let slot):
                var arena: [UInt8] = []
                guard let value = Coercion.storedValue(value, as: self[entity.table].attributes[slot].type),
                    append(value.slot(arena: &arena), arena, isComposite: false, to: &text)
                else { return false }
            case .relationship(let index):
                let target = entities[entity.relationships[index].destination]
                var arena: [UInt8] = []
                guard let slot = keySlot(value, of: target, &arena),
                    append(slot, arena, isComposite: target.compositeKey != nil, to: &text)
                else { return false }
            }
        }
        text.close()
        return true
    }

    private func append(_ slot: Slot, _ arena: [UInt8], isComposite: Bool, to text: inout KeyPartsText) -> Bool {
        arena.withUnsafeBufferPointer {
            let pool = TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0)
            return text.append(slot, isComposite: isComposite, pool)
        }
    }

    /// What a key of an entity is, for messages.
    package func keyDescription(of entity: CompiledEntity) -> String {
        if let slot = entity.keySlot {
            let attribute = self[entity.table].attributes[slot]
            return "whose '\(attribute.name)' is of type \(attribute.type)"
        }
        return "which is a list of \(keyNames(of: entity).joined(separator: ", "))"
    }

    private func values(of key: CompositeKey, _ json: JSONValue, _ entity: CompiledEntity) -> [JSONValue]? {
        switch json {
        case .array(let elements): return elements.count == key.parts.count ? elements : nil
        case .object:
            let values = key.parts.map { value(of: $0, json, entity) }
            return values.contains { $0 == nil } ? nil : values.compactMap(\.self)
        default: return key.parts.count == 1 ? [json] : nil
        }
    }

    /// What an object says of a part of a key; nil if it does not.
    func value(of part: CompositeKey.Part, _ json: JSONValue, _ entity: CompiledEntity) -> JSONValue? {
        switch part {
        case .attribute(let slot): value(ofPart: slot, json, entity)
        case .relationship(let index): value(ofRelationship: index, json, entity)
        }
    }

    private func value(ofPart slot: Int, _ json: JSONValue, _ entity: CompiledEntity) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        let names = names(of: entity)
        let found = members.compactMap { member in
            names.attribute(forKey: member.key).flatMap { $0.slot == slot ? (member.value, $0.strength) : nil }
        }
        return found.min { $0.1 < $1.1 }?.0
    }

    private func value(ofRelationship index: Int, _ json: JSONValue, _ entity: CompiledEntity) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        let names = names(of: entity)
        return members.first { names.relationships(readFrom: $0.key).contains { $0.index == index } }?.value
    }
}
