/// Of which entities records are, by the members that name their kinds.
package struct EntityKinds: Sendable {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    /// What the members of a record come to.
    package enum Found {
        case entity(Int)
        /// No member names a kind, and without one there are no rows.
        case unnamed
        /// The value at a token names no kind of the entity.
        case unknown(token: Int, of: Int)
        /// The kind is an entity that only its sub-entities have rows of.
        case withoutRows(Int)
        /// The kind is an entity that is not of those the record can be of.
        case other(Int, than: Int)
    }

    /// What the kind beside a reference comes to.
    package enum FoundBeside {
        case entity(Int)
        /// It is unknown, or null, and the row is one of those the relationship leads to.
        case any
        case unknown
    }

    private let model: CompiledModel
    /// By entity; empty in a model without kinds.
    private let tables: [KindTable?]
    package var isEmpty: Bool { tables.isEmpty }

    package init(_ model: CompiledModel) {
        self.model = model
        tables =
            !model.hasKinds
            ? []
            : model.entities.map { entity in
                model.discriminator(of: entity.id).map { KindTable($0.discriminator, owner: $0.owner, of: model) }
            }
    }

    /// Whether a value names a kind of an entity.
    func knows(_ token: JSONTape.Token, of entity: Int, _ bytes: Bytes) -> Bool {
        !isEmpty && tables[entity]?.entity(of: token, bytes) != nil
    }

    /// The entity of a record that is asked for as another.
    ///
    /// - Parameter isResource: Whether its attributes are in a member `attributes`.
    package func entity(
        of object: Int, _ tape: JSONTape, isResource: Bool = false, as asked: Int, _ bytes: Bytes
    ) -> Found {
        var entity = asked
        var owner = -1
        while !isEmpty, let kinds = tables[entity], kinds.owner != owner {
            owner = kinds.owner
            let isAbstract = model.entities[entity].isAbstract
            guard let token = Self.token(tape, of: object, kinds.path, isResource, bytes) else {
                return isAbstract ? .unnamed : .entity(entity)
            }
            guard let found = kinds.entity(of: tape.tokens[token], bytes) else {
                let isParent = kinds.otherwise == .parent && !isAbstract
                return isParent ? .entity(entity) : .unknown(token: token, of: kinds.owner)
            }
            if model.entity(entity, isKindOf: found) { return isAbstract ? .withoutRows(found) : .entity(entity) }
            guard model.entity(found, isKindOf: entity) else { return .other(found, than: entity) }
            entity = found
        }
        return .entity(entity)
    }

    /// The entity of a row that is referred to, by the value beside the reference.
    package func entity(beside value: JSONTape.Token, of destination: Int, _ bytes: Bytes) -> FoundBeside {
        guard value.kind != .null, !isEmpty, let kinds = tables[destination] else { return .any }
        if let found = kinds.entity(of: value, bytes), model.entity(found, isKindOf: destination) {
            return .entity(found)
        }
        return kinds.otherwise == .parent ? .any : .unknown
    }

    /// The value that names the kind of a record; nil if it has none.
    private static func token(
        _ tape: JSONTape, of object: Int, _ keys: [[UInt8]], _ isResource: Bool, _ bytes: Bytes
    ) -> Int? {
        if isResource, let attributes = tape.member(named: "attributes", of: object, in: bytes),
            tape.tokens[attributes].kind == .object, let token = tape.member(at: keys, of: attributes, in: bytes)
        {
            return token
        }
        return tape.member(at: keys, of: object, in: bytes)
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
