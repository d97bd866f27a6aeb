/// A resolver that determines the entity of a record from its discriminator.
package struct DiscriminatorResolver: Sendable {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The entity of a record, or the reason why it cannot be determined.
    package enum Found {
        case entity(Int)
        /// The record has no discriminator, and its entity is abstract.
        case unnamed
        /// The value at `token` is not a discriminator value of the entity `of`.
        case unknown(token: Int, of: Int)
        /// The expected entity is abstract, and the discriminator value names that entity or an ancestor of it.
        case withoutRows(Int)
        /// The discriminator value names an entity that is unrelated to the expected one, `than`.
        case other(Int, than: Int)
    }

    /// The entity of a referenced row, as a discriminator next to the reference states it.
    package enum FoundBeside {
        case entity(Int)
        /// The row can be of the destination entity or of any subentity. The discriminator is null, the destination
        /// declares none, or the value names no such entity and the fallback is `parent`.
        case any
        case unknown
    }

    private let model: CompiledModel
    /// The discriminator table of each entity, nil for an entity without one; empty in a model without discriminators.
    private let tables: [DiscriminatorTable?]
    package var isEmpty: Bool { tables.isEmpty }

    package init(_ model: CompiledModel) {
        self.model = model
        tables =
            !model.hasDiscriminators
            ? []
            : model.entities.map { entity in
                model.discriminator(of: entity.id).map {
                    DiscriminatorTable($0.discriminator, owner: $0.owner, of: model)
                }
            }
    }

    /// Returns whether a value is a discriminator value of an entity.
    func knows(_ token: JSONTape.Token, of entity: Int, _ bytes: Bytes) -> Bool {
        !isEmpty && tables[entity]?.entity(of: token, bytes) != nil
    }

    /// Returns the entity of a record.
    ///
    /// - Parameters:
    ///   - isResource: Whether the record is a JSON:API resource, whose values are in a member `attributes`.
    ///   - asked: The entity that the call or the relationship expects.
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
                let isParent = kinds.fallback == .parent && !isAbstract
                return isParent ? .entity(entity) : .unknown(token: token, of: kinds.owner)
            }
            if model.entity(entity, isKindOf: found) { return isAbstract ? .withoutRows(found) : .entity(entity) }
            guard model.entity(found, isKindOf: entity) else { return .other(found, than: entity) }
            entity = found
        }
        return .entity(entity)
    }

    /// Returns the entity of a referenced row, from the discriminator value next to the reference.
    package func entity(beside value: JSONTape.Token, of destination: Int, _ bytes: Bytes) -> FoundBeside {
        guard value.kind != .null, !isEmpty, let kinds = tables[destination] else { return .any }
        if let found = kinds.entity(of: value, bytes), model.entity(found, isKindOf: destination) {
            return .entity(found)
        }
        return kinds.fallback == .parent ? .any : .unknown
    }

    /// Returns the token of a record's discriminator value; nil if the record has none.
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
    /// Returns the entity that a string or number names; nil if it is not a discriminator value.
    func entity(of token: JSONTape.Token, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard token.kind == .string || token.kind == .number else { return nil }
        let text = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
        guard token.hasEscapes else { return entity(of: text) }
        var plain: [UInt8] = []
        JSONText.unescape(text, into: &plain)
        return plain.withUnsafeBufferPointer { entity(of: $0) }
    }
}

/// The values of one discriminator, with their entities.
struct DiscriminatorTable: Sendable {
    /// The entity that declares the discriminator.
    let owner: Int
    /// The path of keys from the record to the discriminator.
    let path: [[UInt8]]
    let fallback: SyncModel.Discriminator.Fallback
    /// The values and their entities. There are few, so a linear search is faster than hashing.
    private let kinds: [(value: [UInt8], entity: Int)]

    init(_ discriminator: SyncModel.Discriminator, owner: Int, of model: CompiledModel) {
        self.owner = owner
        path = discriminator.key.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        fallback = discriminator.fallback
        kinds = discriminator.kinds.compactMap { kind in
            model.entityID(kind.entity).map { (Array(kind.value.utf8), $0) }
        }
    }

    /// Returns the entity of a discriminator value; nil if the value is unknown.
    func entity(of kind: UnsafeBufferPointer<UInt8>) -> Int? {
        kinds.first { $0.value.withUnsafeBufferPointer { TextPool.equal($0, kind) } }?.entity
    }
}

extension CompiledModel {
    /// Returns the discriminator of an entity or of its nearest ancestor with a discriminator, and the declaring
    /// entity; nil if there is no discriminator.
    package func discriminator(of entity: Int) -> (discriminator: SyncModel.Discriminator, owner: Int)? {
        discriminators(of: entity).first
    }

    /// Returns the discriminators of an entity and of its ancestors, nearest first, with the declaring entities.
    package func discriminators(of entity: Int) -> [(discriminator: SyncModel.Discriminator, owner: Int)] {
        ancestry(of: entity).compactMap { id in declarations[id].discriminator.map { ($0, id) } }
    }

    /// Returns an entity and its ancestors, nearest first.
    package func ancestry(of entity: Int) -> some Sequence<Int> {
        sequence(first: entity) { [entities] in entities[$0].parent }
    }
}

/// The JSON keys of an entity that are discriminators. A discriminator states the entity of the record itself, or of a
/// row that it references: `commentable_type` next to `commentable_id`.
struct DiscriminatorKeys {
    /// The keys of the discriminators of the entity and its ancestors.
    private let own: [String]
    private let relationships: [String: [Int]]

    init(_ entity: CompiledEntity, of model: CompiledModel) {
        own = model.discriminators(of: entity.id).map(\.discriminator.key)
        var relationships: [String: [Int]] = [:]
        for (index, relationship) in entity.relationships.enumerated() where !relationship.isToMany {
            guard model.discriminator(of: relationship.destination) != nil else { continue }
            for key in Self.keys(beside: relationship.relationship) { relationships[key, default: []].append(index) }
        }
        self.relationships = relationships
    }

    /// Returns the discriminator targets of a dotted key path; empty if it is not the path of a discriminator.
    func targets(of key: String) -> [KeyTable.Target] {
        (relationships[key] ?? []).map { .kind(relationship: $0) }
            + (own.contains(key) ? [.kind(relationship: -1)] : [])
    }

    /// Returns whether a discriminator of the record is inside the object at a dotted key path.
    func isAbove(_ key: String) -> Bool { own.contains { $0.hasPrefix(key + ".") } }

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

/// The entities of JSON:API types, such as `people`, `blog-posts`, `blogPosts`.
package struct ResourceTypes: Sendable {
    /// The entities by declared resource type (`declared`), and by normalized name (`spelled`).
    private let declared: [String: Int]
    private let spelled: [String: Int]
    /// The entities that a relationship can reference and whose primary key is not the `id` of a resource. An entity
    /// whose key contains rows of another entity is in a later set than that entity.
    let otherwiseKeyed: [Set<Int>]

    package init(_ model: CompiledModel) {
        var declared: [String: Int] = [:]
        var spelled: [String: Int] = [:]
        for entity in model.entities {
            if let type = model.declarations[entity.id].resourceType { declared[type] = declared[type] ?? entity.id }
        }
        // Exact names take precedence over singular forms.
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

    private static func otherwiseKeyed(_ model: CompiledModel) -> [Set<Int>] {
        let destinations = Set(model.entities.flatMap { $0.relationships.map(\.destination) })
        let found = model.entities.filter { entity in
            entity.isKeyed && !isKeyedByID(entity, model)
                && destinations.contains {
                    model.entity($0, isKindOf: entity.id) || model.entity(entity.id, isKindOf: $0)
                }
        }
        let byDepth = Dictionary(grouping: found) { keyDepth($0, model) }
        return byDepth.sorted { $0.key < $1.key }.map { Set($0.value.map(\.id)) }
    }

    /// Returns how many rows a primary key contains, one inside the key of the other. The model rules out cycles.
    private static func keyDepth(_ entity: CompiledEntity, _ model: CompiledModel) -> Int {
        var depth = 0
        for case .relationship(let index) in entity.compositeKey?.parts ?? [] {
            let owner = model.entities[entity.relationships[index].destination]
            depth = max(depth, 1 + keyDepth(owner, model))
        }
        return depth
    }

    /// Returns whether `id` is the JSON key of the primary key: its remote key, or its JSON key without one.
    private static func isKeyedByID(_ entity: CompiledEntity, _ model: CompiledModel) -> Bool {
        guard let slot = entity.keySlot, let read = model.names(of: entity).attribute(forKey: "id"), read.slot == slot
        else { return false }
        return read.strength == 0 || model[entity.table].attributes[slot].remoteKey == nil
    }

    /// Returns the entity of a resource type; nil if no entity has the type.
    package func entity(of type: String) -> Int? {
        if let entity = declared[type] { return entity }
        let snake = type.replacing("-", with: "_")
        return spelled[Self.spelling(type)] ?? spelled[Self.spelling(Inflection.singular(snake))]
    }

    /// Returns the lowercased letters and digits of a name, so that case and separators are ignored.
    private static func spelling(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}

// MARK: - Entities of records

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
        let (key, state) = reader.key(ofSkipped: object, as: entity, tape, context, bytes, &graph)
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
