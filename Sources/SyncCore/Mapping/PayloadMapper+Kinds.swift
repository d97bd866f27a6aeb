/// A key of a record that names the kind of the row a relationship leads to.
struct KindBeside {
    let relationship: Int
    let value: Int
}

// Records that say by a member of which entity they are.
extension PayloadMapper {
    /// The entity of a record, by its kind; -1 if that is unknown, which is reported, and the record is to be skipped.
    mutating func kind(
        _ tape: JSONTape, of object: Int, as asked: Int, _ context: Context, _ bytes: Bytes
    ) -> Int {
        var entity = asked
        var owner = -1
        while let kinds = tables.kinds[entity], kinds.owner != owner {
            owner = kinds.owner
            guard let token = kindToken(tape, of: object, kinds.path, context, bytes) else {
                guard model.entities[entity].isAbstract else { return entity }
                return skip(tape, object, as: asked, context, bytes, "the record does not say of which kind it is")
            }
            guard let found = kinds.entity(of: tape.tokens[token], bytes) else {
                if kinds.otherwise == .parent, !model.entities[entity].isAbstract { return entity }
                return skip(
                    tape, object, as: asked, context, bytes,
                    "\(kindText(tape, at: token, bytes)) is no kind of \(model.entities[kinds.owner].name)")
            }
            if model.entity(entity, isKindOf: found) {
                guard model.entities[entity].isAbstract else { return entity }
                let name = model.entities[found].name
                return skip(tape, object, as: asked, context, bytes, "the kind \(name) has no rows of its own")
            }
            guard model.entity(found, isKindOf: entity) else {
                return skip(
                    tape, object, as: asked, context, bytes,
                    "the record is a \(model.entities[found].name), not a \(model.entities[entity].name)")
            }
            entity = found
        }
        return entity
    }

    /// A kind for a message. It is a name, as a key is, so it is told where values are not.
    private func kindText(_ tape: JSONTape, at token: Int, _ bytes: Bytes) -> String {
        guard [.string, .number].contains(tape.tokens[token].kind) else { return tape.name(of: token) }
        return "'\(tape.text(at: token, in: bytes).prefix(100))'"
    }

    /// The value that names the kind of a record; nil if it has none.
    private func kindToken(
        _ tape: JSONTape, of object: Int, _ keys: [[UInt8]], _ context: Context, _ bytes: Bytes
    ) -> Int? {
        if context.isResource, let attributes = tape.member(named: "attributes", of: object, in: bytes),
            tape.tokens[attributes].kind == .object, let token = tape.member(at: keys, of: attributes, in: bytes)
        {
            return token
        }
        return tape.member(at: keys, of: object, in: bytes)
    }

    /// Passes over a record. The row with its key stays as it is.
    private mutating func skip(
        _ tape: JSONTape, _ object: Int, as entityID: Int, _ context: Context, _ bytes: Bytes, _ reason: String
    ) -> Int {
        let entity = model.entities[entityID]
        let outer = current
        current = nil
        defer { current = outer }
        report(.unknownKind, entityID, bytes, reason + "; it is skipped")
        guard let keyOwner = entity.keyOwner else { return -1 }
        guard let slot = entity.keySlot else {
            if let key = partedKey(ofSkipped: object, as: entity, tape, context, bytes) {
                logReference(entity.table, node(forKey: key, keyOwner: keyOwner, entity, bytes).node)
            }
            return -1
        }
        var name = Int(context.nameSlot) == slot ? Int(context.name) : -1
        var member = object + 1
        while name < 0, member < Int(tape.tokens[object].next) {
            let entry = keyTables.entry(tape.tokens[member], entityID, after: -1, bytes)
            if keyTables.all[entityID].entries[entry].slot == slot { name = member + 1 }
            member = Int(tape.tokens[member + 1].next)
        }
        let type = tables.types[entity.table.index][slot]
        guard name >= 0 else { return -1 }
        let key = value(tape, at: name, for: slot, of: entity.table, as: type, bytes)
        if let value = key, value.kind != .null {
            let node = node(forKey: value, keyOwner: keyOwner, entity, bytes).node
            logReference(entity.table, node)
        }
        return -1
    }

    /// Has a relationship lead to the kind that stands beside it; false if that is unknown, which is reported.
    mutating func narrow(
        _ relationship: inout RelationshipMapping, _ candidate: Candidate, _ tape: JSONTape, from first: Int,
        _ entity: Int, _ bytes: Bytes
    ) -> Bool {
        guard let beside = kindsBeside[first...].last(where: { $0.relationship == candidate.relationship }),
            tape.tokens[beside.value].kind != .null, tape.tokens[candidate.value].kind != .null,
            let kinds = tables.kinds[relationship.destination]
        else { return true }
        if let found = kinds.entity(of: tape.tokens[beside.value], bytes),
            model.entity(found, isKindOf: relationship.destination)
        {
            relationship.narrow(to: found, of: model)
            return true
        }
        if kinds.otherwise == .parent { return true }
        let name = model.entities[entity].relationships[candidate.relationship].name
        report(
            .unknownKind, entity, bytes,
            "\(kindText(tape, at: beside.value, bytes)) beside \(name) is no kind of "
                + "\(model.entities[relationship.destination].name); its links stay")
        return false
    }
}

extension KindTable {
    /// The entity that a text or number names; nil if it names none.
    func entity(of token: JSONTape.Token, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard token.kind == .string || token.kind == .number else { return nil }
        let text = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
        guard token.hasEscapes else { return entity(of: text) }
        var plain: [UInt8] = []
        JSONText.unescape(text, into: &plain)
        return plain.withUnsafeBufferPointer { entity(of: $0) }
    }
}

extension JSONTape {
    /// The value at the end of a path of keys; nil if there is none, or null.
    func member(at path: [[UInt8]], of object: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var value = object
        for name in path {
            guard tokens[value].kind == .object else { return nil }
            var found: Int?
            var key = value + 1
            let end = Int(tokens[value].next)
            while key < end {
                let token = tokens[key]
                if Int(token.length) == name.count,
                    bytes[token.offset..<token.offset + name.count].elementsEqual(name)
                {
                    found = key + 1
                }
                key = Int(tokens[key + 1].next)
            }
            guard let found else { return nil }
            value = found
        }
        return tokens[value].kind == .null ? nil : value
    }
}
