/// A member of a record that states the entity of the row that a relationship of the record references.
struct SiblingDiscriminator {
    let relationship: Int
    let value: Int
}

// Determines the entities of records from their discriminators.
extension PayloadMapper {
    /// Returns the entity of a record by its discriminator. If the entity cannot be determined, reports and skips the
    /// record, and returns -1.
    mutating func kind(
        _ tape: JSONTape, of object: Int, as asked: Int, _ context: Context, _ bytes: Bytes
    ) -> Int {
        switch tables.kinds.entity(of: object, tape, isResource: context.isResource, as: asked, bytes) {
        case .entity(let entity): return entity
        case .unnamed:
            return skip(tape, object, as: asked, context, bytes, "the record has no discriminator value")
        case .unknown(let token, let owner):
            return skip(
                tape, object, as: asked, context, bytes,
                "unknown discriminator value \(kindText(tape, at: token, bytes)) of \(model.entities[owner].name)")
        case .withoutRows(let kind):
            let name = model.entities[kind].name
            return skip(
                tape, object, as: asked, context, bytes, "the discriminator value names \(name), which is abstract")
        case .other(let kind, let entity):
            return skip(
                tape, object, as: asked, context, bytes,
                "the record is of entity \(model.entities[kind].name), not \(model.entities[entity].name)")
        }
    }

    /// Returns a discriminator value for a message. Messages include it even if they hide values, because it is a type
    /// name and not data.
    private func kindText(_ tape: JSONTape, at token: Int, _ bytes: Bytes) -> String {
        guard [.string, .number].contains(tape.tokens[token].kind) else { return tape.name(of: token) }
        return "'\(tape.text(at: token, in: bytes).prefix(100))'"
    }

    /// Reports a record as skipped, and returns -1. A readable key still gets a node, so that the row of the record is
    /// not deleted.
    private mutating func skip(
        _ tape: JSONTape, _ object: Int, as entityID: Int, _ context: Context, _ bytes: Bytes, _ reason: String
    ) -> Int {
        let entity = model.entities[entityID]
        let outer = current
        current = nil
        defer { current = outer }
        report(.unknownDiscriminatorValue, entityID, bytes, reason + "; the record is skipped")
        guard let keyOwner = entity.keyOwner else { return -1 }
        let (key, state) = reader.key(ofSkipped: object, as: entity, tape, context, bytes, &plan)
        if context.isRoot { rootKeyState = state }
        if let key { _ = node(forKey: key, keyOwner: keyOwner, entity, bytes) }
        return -1
    }

    /// Narrows a relationship to the entity that a sibling member states.
    ///
    /// - Returns: False if the sibling member has an unknown value. The value is then reported.
    mutating func narrow(
        _ relationship: inout RelationshipMapping, _ candidate: RecordReader.Candidate, _ tape: JSONTape,
        from first: Int,
        _ entity: Int, _ bytes: Bytes
    ) -> Bool {
        guard let beside = reader.kindsBeside[first...].last(where: { $0.relationship == candidate.relationship }),
            tape.tokens[candidate.value].kind != .null
        else { return true }
        switch tables.kinds.entity(beside: tape.tokens[beside.value], of: relationship.destination, bytes) {
        case .any: return true
        case .entity(let found):
            relationship.narrow(to: found, of: model)
            return true
        case .unknown: break
        }
        let name = model.entities[entity].relationships[candidate.relationship].name
        report(
            .unknownDiscriminatorValue, entity, bytes,
            "unknown discriminator value \(kindText(tape, at: beside.value, bytes)) of "
                + "\(model.entities[relationship.destination].name) for \(name); its links are unchanged")
        return false
    }
}

extension JSONTape {
    /// Returns the token of the value at the end of a path of keys; nil if the value is missing or null.
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
