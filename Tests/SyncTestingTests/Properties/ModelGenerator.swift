import SyncCore

/// Generates random models.
struct ModelGenerator {
    private var random: SplitMix64
    private let kinds: PropertyKinds
    private var entities: [SyncModel.Entity] = []
    private var linkCount = 0

    static func model(_ random: inout SplitMix64, _ kinds: PropertyKinds) throws -> SyncModel {
        var generator = ModelGenerator(random: SplitMix64(seed: random.next()), kinds: kinds)
        return try generator.model()
    }

    private init(random: SplitMix64, kinds: PropertyKinds) {
        self.random = random
        self.kinds = kinds
    }

    private mutating func model() throws -> SyncModel {
        let count = 1 + random.below(3)
        for name in ["Ant", "Bee", "Cat"].prefix(count) { entities.append(keyed(name)) }
        if kinds.contains(.inheritance), random.chance(kinds.contains(.discriminators) ? 75 : 25) {
            entities.append(
                SyncModel.Entity("Sub", parent: "Ant", attributes: [SyncModel.Attribute("extra", .integer)]))
            if kinds.contains(.discriminators) { tellKindsApart() }
        }
        let keyedCount = entities.count
        for _ in 0..<(1 + random.below(4)) { addLink(keyedCount) }
        if kinds.contains(.partedKeys), random.chance(30) { addDependent(keyedCount) }
        if kinds.contains(.keyless), random.chance(50) { addKeyless(keyedCount) }
        if kinds.contains(.keyedObjects) { keyObjects() }
        return try SyncModel(entities: entities)
    }

    private mutating func keyed(_ name: String) -> SyncModel.Entity {
        let types: [AttributeType] = [.integer, .string, .uuid, .date, .decimal, .double]
        let type = kinds.contains(.keyTypes) && random.chance(40) ? random.pick(types) : .integer
        var attributes = [
            SyncModel.Attribute("id", type), SyncModel.Attribute("value", .integer),
            SyncModel.Attribute("name", .string),
        ]
        if kinds.contains(.requiredValues), random.chance(15) {
            attributes.append(
                SyncModel.Attribute(
                    "state", .string, isOptional: false, defaultValue: random.chance(60) ? .string("new") : nil))
        }
        guard kinds.contains(.partedKeys), random.chance(25) else {
            return SyncModel.Entity(name, attributes: attributes)
        }
        attributes.append(SyncModel.Attribute("part", random.pick([.string, .integer, .date])))
        return SyncModel.Entity(name, primaryKey: ["id", "part"], attributes: attributes)
    }

    /// Adds a discriminator to `Ant`. Some of its values stand for the same entity, and one value is a number.
    private mutating func tellKindsApart() {
        var values = [SyncModel.Discriminator.Kind("sub", "Sub"), .init("Unterart", "Sub"), .init("ant", "Ant")]
        if random.chance(50) {
            entities.append(
                SyncModel.Entity(
                    "Elf", parent: random.chance(70) ? "Ant" : "Sub",
                    attributes: [SyncModel.Attribute("size", .integer)]))
            values.append(.init("7", "Elf"))
        }
        entities[0].isAbstract = random.chance(20)
        let otherwise: SyncModel.Discriminator.Fallback =
            !entities[0].isAbstract && random.chance(50) ? .parent : .skip
        let key = random.pick(["kind", "kind", "meta.kind"])
        if key == "kind", random.chance(30) { entities[0].attributes.append(SyncModel.Attribute("kind", .string)) }
        entities[0].discriminator = SyncModel.Discriminator(key, kinds: values, fallback: otherwise)
        // An entity of a discriminator may have a discriminator too.
        guard let sub = entities.firstIndex(where: { $0.name == "Sub" }), entities.last?.parent == "Sub",
            random.chance(50)
        else { return }
        entities[sub].discriminator = SyncModel.Discriminator("rank", values: ["first": "Elf"])
    }

    /// Makes lists keyed objects, by the primary key of their rows or by another attribute with repeated values.
    private mutating func keyObjects() {
        for index in entities.indices {
            for place in entities[index].relationships.indices where random.chance(60) {
                let relationship = entities[index].relationships[place]
                guard relationship.isToMany, let target = entities.first(where: { $0.name == relationship.destination })
                else { continue }
                let isSingleKey = target.name != "Box" && target.primaryKey == nil
                let names = target.name == "Box" ? ["label", "size"] : target.name == "Dot" ? ["id"] : ["id", "name"]
                entities[index].relationships[place].keyedBy =
                    isSingleKey && random.chance(60) ? .primaryKey : .attribute(random.pick(names))
            }
        }
    }

    /// Adds an entity whose primary key is its owner and a number, and references to it.
    private mutating func addDependent(_ count: Int) {
        let owner = random.below(count)
        let isListed = random.chance(70)
        entities.append(
            SyncModel.Entity(
                "Dot", primaryKey: random.chance(50) ? ["owner", "id"] : ["id", "owner"],
                attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("value", .integer)],
                relationships: [
                    SyncModel.Relationship("owner", to: entities[owner].name, inverse: isListed ? "dots" : nil)
                ]))
        if isListed {
            entities[owner].relationships.append(
                SyncModel.Relationship(
                    "dots", to: "Dot", many: true, ordered: isOrdered(), inverse: "owner", deleteRule: rule()))
        }
        if random.chance(50) {
            entities[random.below(count)].relationships.append(
                SyncModel.Relationship("points", to: "Dot", many: random.chance(50) && kinds.contains(.manyToMany)))
        }
    }

    private mutating func rule() -> SyncModel.DeleteRule {
        guard kinds.contains(.deleteRules), random.chance(35) else { return .nullify }
        return random.pick([.cascade, .cascade, .deny, .noAction])
    }

    private mutating func addLink(_ count: Int) {
        let from = random.below(count)
        var to = random.below(count)
        if from == to, !kinds.contains(.withItself) {
            guard count > 1 else { return }
            to = (from + 1) % count
        }
        var shapes = [0, 1, 1]
        if kinds.contains(.manyToMany) { shapes += [2, 3] }
        if kinds.contains(.oneToOne) { shapes += [4] }
        if from == to { shapes += [5] }
        linkCount += 1
        let name = "link\(linkCount)"
        let back = "back\(linkCount)"
        let shape = random.pick(shapes)
        let hasInverse = shape == 1 || shape == 2 || shape == 4
        let isToMany = shape == 1 || shape == 2 || shape == 3 || shape == 5 && kinds.contains(.manyToMany)
        entities[from].relationships.append(
            SyncModel.Relationship(
                name, to: entities[to].name, many: isToMany, ordered: isToMany && isOrdered(),
                inverse: hasInverse ? back : shape == 5 ? name : nil, deleteRule: rule()))
        guard hasInverse else { return }
        entities[to].relationships.append(
            SyncModel.Relationship(
                back, to: entities[from].name, many: shape == 2, ordered: shape == 2 && isOrdered(), inverse: name,
                deleteRule: rule()))
    }

    /// Returns a delete rule for keyless rows. A cascade from the owner must not be denied.
    private mutating func ruleWithoutDeny() -> SyncModel.DeleteRule {
        let rule = rule()
        return rule == .deny ? .cascade : rule
    }

    private mutating func isOrdered() -> Bool { kinds.contains(.ordered) && random.chance(30) }

    private mutating func addKeyless(_ count: Int) {
        entities.append(
            SyncModel.Entity(
                "Box", attributes: [SyncModel.Attribute("label", .string), SyncModel.Attribute("size", .integer)]))
        let owner = random.below(count)
        switch random.below(3) {
        case 0:
            entities[owner].relationships.append(
                SyncModel.Relationship("box", to: "Box", deleteRule: ruleWithoutDeny()))
        case 1: entities[owner].relationships.append(SyncModel.Relationship("boxes", to: "Box", many: true))
        default:
            entities[owner].relationships.append(
                SyncModel.Relationship("boxes", to: "Box", many: true, inverse: "owner", deleteRule: ruleWithoutDeny()))
            entities[entities.count - 1].relationships.append(
                SyncModel.Relationship("owner", to: entities[owner].name, inverse: "boxes"))
        }
        if random.chance(30) {
            entities[entities.count - 1].relationships.append(
                SyncModel.Relationship("maker", to: entities[random.below(count)].name))
        }
    }
}
