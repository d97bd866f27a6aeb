import SyncCore

/// A model under random edits. Its parts keep their identities when they are renamed, so a test can derive the expected
/// rows without the migration.
struct DraftModel {
    struct Attribute {
        var id: Int
        var name: String
        var oldName: String?
        var type: AttributeType
        var isRequired = false
    }

    struct Entity {
        var id: Int
        var name: String
        var oldName: String?
        var parent: Int?
        /// `code`, `mark` or nil.
        var key: String?
        var codeType = AttributeType.integer
        var attributes: [Attribute] = []
    }

    struct Side {
        var entity: Int
        var name: String
        var oldName: String?
        var isToMany: Bool
        var isOrdered: Bool
    }

    /// Two inverse relationships, or one if only the first side is declared.
    struct Pair {
        var id: Int
        var first: Side
        var second: Side
        var hasInverse: Bool
        var cascades = false
    }

    var entities: [Entity] = []
    var pairs: [Pair] = []
    private var lastID = 0

    // MARK: Creation

    init(_ random: inout RandomSource) {
        for _ in 0..<Int.random(in: 2...3, using: &random) { addEntity(&random) }
        for _ in 0..<Int.random(in: 1...3, using: &random) { addPair(&random) }
    }

    private mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func addEntity(_ random: inout RandomSource) {
        let id = newID()
        var entity = Entity(id: id, name: "E\(id)")
        entity.key = random.once(in: 4) ? nil : random.once(in: 3) ? "mark" : "code"
        entity.codeType = Bool.random(using: &random) ? .integer : .string
        let roots = entities.filter { $0.parent == nil }
        if !roots.isEmpty, random.once(in: 2) { entity.parent = roots.randomElement(using: &random)?.id }
        for _ in 0..<Int.random(in: 0...3, using: &random) { entity.attributes.append(newAttribute(&random)) }
        entities.append(entity)
    }

    private mutating func newAttribute(_ random: inout RandomSource) -> Attribute {
        let types: [AttributeType] = [.integer, .double, .string, .boolean, .date]
        let id = newID()
        return Attribute(id: id, name: "p\(id)", type: types.randomElement(using: &random) ?? .string)
    }

    private mutating func addPair(_ random: inout RandomSource) {
        let id = newID()
        func side(_ name: String, _ random: inout RandomSource) -> Side {
            let isToMany = Bool.random(using: &random)
            return Side(
                entity: entities.randomElement(using: &random)?.id ?? 0, name: name, isToMany: isToMany,
                isOrdered: isToMany && Bool.random(using: &random))
        }
        let first = side("a\(id)", &random)
        let second = side("b\(id)", &random)
        pairs.append(Pair(id: id, first: first, second: second, hasInverse: Bool.random(using: &random)))
    }

    // MARK: Editing

    /// Makes the present names those of the stored model, to which the next names refer.
    mutating func settle() {
        for index in entities.indices {
            entities[index].oldName = nil
            for place in entities[index].attributes.indices { entities[index].attributes[place].oldName = nil }
        }
        for index in pairs.indices { (pairs[index].first.oldName, pairs[index].second.oldName) = (nil, nil) }
    }

    mutating func edit(_ random: inout RandomSource) {
        let index = Int.random(in: entities.indices, using: &random)
        switch Int.random(in: 0..<30, using: &random) {
        case 0: addEntity(&random)
        case 1: addPair(&random)
        case 2: entities[index].attributes.append(newAttribute(&random))
        case 3: removeEntity(at: index)
        case 4: if !pairs.isEmpty { pairs.remove(at: Int.random(in: pairs.indices, using: &random)) }
        case 5: if !entities[index].attributes.isEmpty { entities[index].attributes.removeLast() }
        case 6:
            entities[index].oldName = entities[index].oldName ?? entities[index].name
            entities[index].name += "x"
        case 7, 8, 9: editAttribute(of: index, &random)
        case 10: moveEntity(at: index, &random)
        case 11: entities[index].key = [nil, "mark", "code"].randomElement(using: &random) ?? nil
        case 13...15: moveAttribute(of: index)
        case 16...18: movePair(from: entities[index].id)
        case 12: entities[index].codeType = entities[index].codeType == .integer ? .string : .integer
        default: if !pairs.isEmpty { editPair(at: Int.random(in: pairs.indices, using: &random), &random) }
        }
    }

    private mutating func removeEntity(at index: Int) {
        let id = entities[index].id
        guard entities.count > 1, !entities.contains(where: { $0.parent == id }) else { return }
        pairs.removeAll { $0.first.entity == id || $0.second.entity == id }
        entities.remove(at: index)
    }

    private mutating func moveEntity(at index: Int, _ random: inout RandomSource) {
        let id = entities[index].id
        guard !entities.contains(where: { $0.parent == id }) else { return }
        let roots = entities.filter { $0.parent == nil && $0.id != id }
        entities[index].parent = entities[index].parent == nil ? roots.randomElement(using: &random)?.id : nil
    }

    /// Moves an attribute from an entity to its parent, or the other way.
    private mutating func moveAttribute(of index: Int) {
        guard let parent = entities.firstIndex(where: { $0.id == entities[index].parent }) else { return }
        let isUp = !entities[index].attributes.isEmpty
        let (from, to) = isUp ? (index, parent) : (parent, index)
        if let attribute = entities[from].attributes.popLast() { entities[to].attributes.append(attribute) }
    }

    /// Moves the first side of a pair from an entity to its parent, or to a child.
    private mutating func movePair(from id: Int) {
        guard let place = pairs.firstIndex(where: { $0.first.entity == id }) else { return }
        let child = entities.first { $0.parent == id }?.id
        pairs[place].first.entity = entity(id)?.parent ?? child ?? id
    }

    private mutating func editAttribute(of index: Int, _ random: inout RandomSource) {
        guard let place = entities[index].attributes.indices.randomElement(using: &random) else { return }
        var attribute = entities[index].attributes[place]
        if Bool.random(using: &random) {
            attribute.oldName = attribute.oldName ?? attribute.name
            attribute.name += "x"
        } else if attribute.type == .integer, random.once(in: 3) {
            attribute.isRequired.toggle()
        } else if !attribute.isRequired, let type = Self.widened[attribute.type]?.randomElement(using: &random) {
            attribute.type = type
        }
        entities[index].attributes[place] = attribute
    }

    /// The types that each type can become without a loss.
    private static let widened: [AttributeType: [AttributeType]] = [
        .integer: [.double, .string, .decimal, .json], .double: [.string], .boolean: [.integer, .string],
        .date: [.string], .string: [.json],
    ]

    private mutating func editPair(at index: Int, _ random: inout RandomSource) {
        var pair = pairs[index]
        switch Int.random(in: 0..<6, using: &random) {
        case 0: pair.first.isToMany.toggle()
        case 1: pair.second.isToMany.toggle()
        case 2: pair.hasInverse.toggle()
        case 3: pair.cascades.toggle()
        case 4: pair.first.isOrdered.toggle()
        default:
            pair.first.oldName = pair.first.oldName ?? pair.first.name
            pair.first.name += "x"
        }
        pair.first.isOrdered = pair.first.isOrdered && pair.first.isToMany
        pair.second.isOrdered = pair.second.isOrdered && pair.second.isToMany
        pairs[index] = pair
    }

    // MARK: Conversion to a model

    func entity(_ id: Int) -> Entity? { entities.first { $0.id == id } }

    /// Returns the entity and its ancestors.
    func lineage(_ id: Int) -> [Entity] {
        guard let entity = entity(id) else { return [] }
        return [entity] + (entity.parent.map(lineage) ?? [])
    }

    func model() throws -> SyncModel {
        try SyncModel(
            entities: entities.map { entity in
                var made = SyncModel.Entity(entity.name, renamedFrom: entity.oldName)
                made.parent = entity.parent.flatMap(self.entity)?.name
                if entity.parent == nil {
                    made.primaryKey = entity.key.map { SyncModel.PrimaryKey($0) }
                    made.attributes = [.init("mark", .integer), .init("code", entity.codeType)]
                }
                made.attributes += entity.attributes.map { attribute in
                    .init(
                        attribute.name, attribute.type, isOptional: !attribute.isRequired,
                        defaultValue: attribute.isRequired ? .integer(7) : nil, renamedFrom: attribute.oldName)
                }
                for pair in pairs {
                    if pair.first.entity == entity.id { made.relationships.append(relationship(pair, isFirst: true)) }
                    if pair.second.entity == entity.id, pair.hasInverse {
                        made.relationships.append(relationship(pair, isFirst: false))
                    }
                }
                return made
            })
    }

    private func relationship(_ pair: Pair, isFirst: Bool) -> SyncModel.Relationship {
        let (here, there) = isFirst ? (pair.first, pair.second) : (pair.second, pair.first)
        return SyncModel.Relationship(
            here.name, to: entity(there.entity)?.name ?? "", many: here.isToMany, ordered: here.isOrdered,
            inverse: pair.hasInverse ? there.name : nil, deleteRule: pair.cascades && isFirst ? .cascade : .nullify,
            renamedFrom: here.oldName)
    }
}
