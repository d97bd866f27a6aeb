/// Of which entities records are, by the members that name their kinds.
package struct DiscriminatorResolver: Sendable {
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
    private let tables: [DiscriminatorTable?]
    package var isEmpty: Bool { tables.isEmpty }

    package init(_ model: CompiledModel) {
        self.model = model
        tables =
            !model.hasKinds
            ? []
            : model.entities.map { entity in
                model.discriminator(of: entity.id).map {
                    DiscriminatorTable($0.discriminator, owner: $0.owner, of: model)
                }
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

extension DiscriminatorTable {
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

/// Which entity a record of an entity is of, by the member that names its kind.
struct DiscriminatorTable: Sendable {
    /// The entity that has the discriminator.
    let owner: Int
    /// The keys that lead to the member.
    let path: [[UInt8]]
    let otherwise: SyncModel.Discriminator.Fallback
    /// There are few: comparing is quicker than hashing.
    private let kinds: [(value: [UInt8], entity: Int)]

    init(_ discriminator: SyncModel.Discriminator, owner: Int, of model: CompiledModel) {
        self.owner = owner
        path = discriminator.key.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        otherwise = discriminator.otherwise
        kinds = discriminator.kinds.compactMap { kind in
            model.entityID(kind.entity).map { (Array(kind.value.utf8), $0) }
        }
    }

    /// The entity of a kind; nil if it is unknown.
    func entity(of kind: UnsafeBufferPointer<UInt8>) -> Int? {
        kinds.first { $0.value.withUnsafeBufferPointer { TextPool.equal($0, kind) } }?.entity
    }
}

extension CompiledModel {
    /// The nearest discriminator of an entity and those it inherits from, and the entity that has it.
    package func discriminator(of entity: Int) -> (discriminator: SyncModel.Discriminator, owner: Int)? {
        var next: Int? = entity
        while let id = next {
            if let found = declarations[id].discriminator { return (found, id) }
            next = entities[id].parent
        }
        return nil
    }
}

/// Which keys of an entity's records name a kind: their own, or that of a row they refer to, as `commentable_type` does
/// beside `commentable_id`.
struct DiscriminatorKeys {
    private let own: String?
    private let relationships: [String: [Int]]

    init(_ entity: CompiledEntity, of model: CompiledModel) {
        own = model.discriminator(of: entity.id)?.discriminator.key
        var relationships: [String: [Int]] = [:]
        for (index, relationship) in entity.relationships.enumerated() where !relationship.isToMany {
            guard model.discriminator(of: relationship.destination) != nil else { continue }
            for key in Self.keys(beside: relationship.relationship) { relationships[key, default: []].append(index) }
        }
        self.relationships = relationships
    }

    /// What a key is beside what it fills, at the end of a path.
    func targets(of key: String) -> [KeyTable.Target] {
        (relationships[key] ?? []).map { .kind(relationship: $0) } + (key == own ? [.kind(relationship: -1)] : [])
    }

    /// Whether a key leads to the kind of a record.
    func isAbove(_ key: String) -> Bool { own?.hasPrefix(key + ".") ?? false }

    private static func keys(beside relationship: SyncModel.Relationship) -> [String] {
        guard let remote = relationship.remoteKey else {
            return ["\(Inflection.snakeCase(relationship.name))_type", "\(relationship.name)Type"]
        }
        for (ending, kind) in [("_id", "_type"), ("Id", "Type"), ("ID", "Type"), ("-id", "-type")]
        where remote.hasSuffix(ending) {
            return [remote.dropLast(ending.count) + kind]
        }
        return [remote + "_type", remote + "Type"]
    }
}

/// Which entities the types of JSON:API resources are: `people`, `blog-posts`, `blogPosts`.
package struct ResourceTypes: Sendable {
    /// By the type an entity is declared to have, and by its name in the ways types are spelled.
    private let declared: [String: Int]
    private let spelled: [String: Int]
    /// The entities that relationships lead to and whose key is not what a resource has as its `id`.
    let otherwiseKeyed: Set<Int>

    package init(_ model: CompiledModel) {
        var declared: [String: Int] = [:]
        var spelled: [String: Int] = [:]
        for entity in model.entities {
            if let type = model.declarations[entity.id].resourceType { declared[type] = declared[type] ?? entity.id }
        }
        // A name itself counts before its singular.
        for isSingular in [false, true] {
            for entity in model.entities {
                let name = Self.spelling(isSingular ? Inflection.singular(entity.name) : entity.name)
                spelled[name] = spelled[name] ?? entity.id
            }
        }
        otherwiseKeyed = Self.otherwiseKeyed(model)
        self.declared = declared
        self.spelled = spelled
    }

    private static func otherwiseKeyed(_ model: CompiledModel) -> Set<Int> {
        let destinations = Set(model.entities.flatMap { $0.relationships.map(\.destination) })
        let keyed = model.entities.filter { entity in
            entity.isKeyed
                && (entity.keySlot == nil || model.names(of: entity).attribute(forKey: "id")?.slot != entity.keySlot)
        }
        return Set(
            keyed.map(\.id).filter { id in
                destinations.contains { model.entity($0, isKindOf: id) || model.entity(id, isKindOf: $0) }
            })
    }

    /// The entity of a type; nil if there is none.
    package func entity(of type: String) -> Int? {
        if let entity = declared[type] { return entity }
        let snake = type.replacing("-", with: "_")
        return spelled[Self.spelling(type)] ?? spelled[Self.spelling(Inflection.singular(snake))]
    }

    /// Of a name in any case, with or without separators: its letters and digits.
    private static func spelling(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}
