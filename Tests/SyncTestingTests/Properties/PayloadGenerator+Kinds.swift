import SyncCore

// Records with discriminators.
extension PayloadGenerator {
    /// Returns the entity of a record for an expected entity, and the discriminator members: the right one, none, or an
    /// unknown value.
    mutating func kind(_ asked: CompiledEntity) -> (CompiledEntity, [JSONValue.Member]) {
        guard kinds.contains(.discriminators), let (discriminator, _) = model.compiled.discriminator(of: asked.id)
        else {
            return (asked, [])
        }
        if random.chance(12) {
            let odd: [JSONValue] = ["wolf", .bool(true), 8, .null, ["sub"]]
            return (asked, [Self.member(discriminator.key, random.pick(odd))])
        }
        let known = discriminator.kinds.filter { kind in
            model.compiled.entities.contains {
                $0.name == kind.entity && model.compiled.entity($0.id, isKindOf: asked.id)
            }
        }
        guard asked.isAbstract || random.chance(60), !known.isEmpty else { return (asked, []) }
        let kind = random.pick(known)
        let entity = model.compiled.entities.first { $0.name == kind.entity } ?? asked
        let value: JSONValue = kind.value == "7" && random.chance(50) ? 7 : .string(kind.value)
        let member = Self.member(discriminator.key, value)
        // If the entity has another discriminator, the record needs that too.
        guard entity.id != asked.id, let inner = model.compiled.discriminator(of: entity.id)?.discriminator,
            inner != discriminator
        else { return (entity, [member]) }
        let (innermost, members) = self.kind(entity)
        return (innermost, [member] + members)
    }

    /// Returns a member at a dotted key.
    private static func member(_ key: String, _ value: JSONValue) -> JSONValue.Member {
        let parts = key.split(separator: ".").map(String.init)
        let inner = parts.dropFirst().reversed().reduce(value) { .object([.init($1, $0)]) }
        return .init(parts[0], inner)
    }
}
