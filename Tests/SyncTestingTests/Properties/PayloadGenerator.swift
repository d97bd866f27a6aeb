import Foundation
import SyncCore

/// Generates random payloads for a model from few keys, so that records share rows.
struct PayloadGenerator {
    var random: SplitMix64
    let model: SyncModel
    let kinds: PropertyKinds
    /// Whether each row has only one occurrence.
    private let alwaysNamesOnce: Bool
    /// The number of keys, if it is fixed.
    private let keyCount: Int?
    private var namesOnce = false
    private var named: Set<String> = []
    private var given: Set<String> = []

    init(_ random: inout SplitMix64, _ model: SyncModel, _ kinds: PropertyKinds, namesOnce: Bool, keyCount: Int? = nil)
    {
        self.keyCount = keyCount
        self.random = SplitMix64(seed: random.next())
        self.model = model
        self.kinds = kinds
        alwaysNamesOnce = namesOnce
    }

    private var keyed: [CompiledEntity] { model.compiled.entities.filter { $0.isKeyed } }

    mutating func step() -> PropertyCase.Step {
        named = []
        given = []
        let entity = random.pick(keyed)
        var step = PropertyCase.Step(entity: entity.name, payload: [])
        if kinds.contains(.operations), random.chance(30) {
            step.operations = SyncOperations(rawValue: 1 + random.below(63))
        }
        let restricted = step.operations != .all && !kinds.contains(.inconsistentRecordCount) && random.chance(50)
        namesOnce = alwaysNamesOnce || restricted || hasOrderWithInverse && !kinds.contains(.ordersFromBothSides)
        if random.chance(10) { step.scope = .all }
        if kinds.contains(.predicates), random.chance(20) {
            step.predicate = condition(on: entity)
        }
        if kinds.contains(.parents), random.chance(15) { addParent(&step, entity) }
        for _ in 0..<random.below(5) {
            if let record = record(entity, depth: 0) { step.payload.append(record) }
        }
        if kinds.contains(.shapes) { reshape(&step) }
        return step
    }

    /// Replaces the list by another layout, removes all keys, or adds records without keys.
    private mutating func reshape(_ step: inout PropertyCase.Step) {
        switch random.below(100) {
        case 0..<12 where !step.payload.isEmpty:
            step.payload = [step.payload[0]]
            step.shape = .loneObject
        case 12..<15:
            step.payload = [["count": JSONValue(step.payload.count), "results": .array(step.payload)]]
            step.shape = .loneObject
        case 15..<20: step.payload = step.payload.map(Self.withoutKey)
        case 20..<23:
            step.payload = step.payload.prefix(1).map(Self.withoutKey)
            step.shape = .loneObject
        case 23..<32:
            for _ in 0...random.below(2) {
                let keyless: JSONValue = ["name": .string(random.pick(["a", "b"])), "error": "boom"]
                step.payload.insert(keyless, at: random.below(step.payload.count + 1))
            }
        case 32..<40: step.shape = .lines
        case 40..<48:
            // A key of an invalid type: the record may be of any row.
            step.payload.insert(["id": [true]], at: random.below(step.payload.count + 1))
        default: break
        }
        if kinds.contains(.keyedObjects), step.shape == .list, random.chance(50),
            let entity = try? model.compiled.entity(named: step.entity)
        {
            let isSingleKey = entity.keySlot != nil
            step.keyedBy = isSingleKey && random.chance(60) ? .primaryKey : .attribute("id")
        }
    }

    private static func withoutKey(_ record: JSONValue) -> JSONValue {
        guard case .object(let members) = record else { return record }
        return .object(members.filter { $0.key != "id" })
    }

    /// Returns records of an entity, some with an unknown key.
    mutating func records(of entity: CompiledEntity, count: Int) -> [JSONValue] {
        named = []
        given = []
        namesOnce = alwaysNamesOnce
        return (0..<count).compactMap { _ in
            guard case .object(var members)? = record(entity, depth: 0) else { return nil }
            if random.chance(20) { members.append(.init("unknown\(random.below(3))", .null)) }
            return .object(members)
        }
    }

    /// Returns a condition on the values of rows, on referenced rows, or on their number.
    private mutating func condition(on entity: CompiledEntity) -> String {
        let comparison = "value \(random.pick(["==", "!=", "<", ">="])) \(random.below(4))"
        guard !entity.relationships.isEmpty, random.chance(60) else { return comparison }
        let relationship = random.pick(entity.relationships)
        let name = relationship.name
        let isKeyless = model.compiled.entities[relationship.destination].isKeyed == false
        let there = isKeyless ? "\(name) != nil" : "\(name).value >= \(random.below(4))"
        guard relationship.isToMany else { return random.chance(50) ? "NOT \(there)" : "\(there) OR \(comparison)" }
        switch random.below(isKeyless ? 1 : 3) {
        case 0: return "\(name).@count < \(1 + random.below(3))"
        case 1: return "ANY \(there)"
        default: return "NONE \(there) AND \(comparison)"
        }
    }

    private mutating func addParent(_ step: inout PropertyCase.Step, _ entity: CompiledEntity) {
        let owners = keyed.flatMap { owner in
            owner.relationships.filter { $0.isToMany && $0.destination == entity.id }.map { (owner, $0) }
        }
        guard !owners.isEmpty else { return }
        let (owner, relationship) = random.pick(owners)
        guard let number = number(owner, asObject: true) else { return }
        given.insert(name(number, owner))
        step.parent = SyncParent(owner.name, id: key(number, of: owner), relationship: relationship.name)
        if !kinds.contains(.parentsWithoutUpdate) { step.operations.insert(.update) }
    }

    private var hasOrderWithInverse: Bool {
        model.entities.flatMap(\.relationships).contains { $0.isOrdered && $0.inverse != nil }
    }

    // MARK: Records

    /// - Parameters:
    ///   - isListed: Whether it is in a list, where it is skipped without a key. Otherwise its owner would determine
    ///     the row.
    ///   - owner: The relationship whose list contains it.
    private mutating func record(
        _ asked: CompiledEntity, depth: Int, isListed: Bool = true, in owner: CompiledRelationship? = nil
    ) -> JSONValue? {
        let (entity, kind) = kind(asked)
        var members = kind
        var isFirst = true
        if entity.isKeyed {
            if kinds.contains(.misfits), random.chance(4) {
                if !isListed || random.chance(50) { members.append(.init("id", [])) }
            } else {
                guard let number = number(entity, asObject: true) else { return nil }
                isFirst = given.insert(name(number, entity)).inserted
                members += keyMembers(number, of: entity, isInList: owner != nil)
            }
        }
        let attributes = model.compiled[entity.table].attributes
        for slot in entity.slots
        where !entity.keySlots.contains(slot) && attributes[slot].name != "kind" && random.chance(45) {
            members.append(.init(attributes[slot].name, value(of: attributes[slot])))
        }
        for relationship in entity.relationships
        where !model.compiled.isKeyPart(relationship) && random.chance(45) {
            let isKeyless = model.compiled.entities[relationship.destination].isKeyed == false
            if isKeyless, !isFirst, !kinds.contains(.inconsistentRecordCount) { continue }
            members += self.members(relationship, depth: depth)
        }
        return .object(random.chance(30) ? members.shuffled(using: &random) : members)
    }

    private mutating func value(of attribute: SyncModel.Attribute) -> JSONValue {
        if random.chance(15) { return .null }
        if attribute.type == .integer {
            if kinds.contains(.misfits), random.chance(5) { return "odd" }
            return JSONValue(random.below(4))
        }
        if kinds.contains(.misfits), random.chance(3) { return [] }
        return .string(random.pick(["a", "b", "c"]))
    }

    /// Returns a relationship, possibly with the discriminator of the referenced row.
    private mutating func members(_ relationship: CompiledRelationship, depth: Int) -> [JSONValue.Member] {
        var destination = model.compiled.entities[relationship.destination]
        var kind: JSONValue?
        if !relationship.isToMany, kinds.contains(.discriminators), random.chance(50),
            let (discriminator, _) = model.compiled.discriminator(of: destination.id)
        {
            let named = random.pick(discriminator.kinds)
            let found = model.compiled.entities.first { $0.name == named.entity }
            if let found, model.compiled.entity(found.id, isKindOf: destination.id) {
                if random.chance(85) {
                    (destination, kind) = (found, .string(named.value))
                } else {
                    kind = random.pick([.null, "wolf", .bool(true)])
                }
            } else {
                kind = .string(named.value)
            }
        }
        guard let member = member(relationship, to: destination, depth: depth) else { return [] }
        return [member] + (kind.map { [.init("\(relationship.name)_type", $0)] } ?? [])
    }

    private mutating func member(
        _ relationship: CompiledRelationship, to destination: CompiledEntity, depth: Int
    ) -> JSONValue.Member? {
        let objectKey = AttributeNaming.objectKeys(for: relationship.relationship)[0]
        let idKey = AttributeNaming.idKeys(for: relationship.relationship)[0]
        let byID = destination.isKeyed && (depth >= 3 || random.chance(45))
        switch (relationship.isToMany, byID) {
        case (_, _) where random.chance(10): return .init(random.chance(50) || !byID ? objectKey : idKey, .null)
        case (false, true): return id(destination).map { .init(random.chance(70) ? idKey : objectKey, $0) }
        case (false, false):
            return record(destination, depth: depth + 1, isListed: false).map { .init(objectKey, $0) }
        case (true, true):
            var ids: [JSONValue] = []
            for _ in 0..<random.below(4) {
                if let id = id(destination), !ids.contains(id) { ids.append(id) }
            }
            return .init(idKey, .array(ids))
        case (true, false):
            var children: [JSONValue] = []
            for _ in 0..<random.below(4) where depth < 4 {
                if let child = record(destination, depth: depth + 1, in: relationship) { children.append(child) }
            }
            return .init(objectKey, .array(children))
        }
    }

    // MARK: Keys

    private func name(_ number: Int, _ entity: CompiledEntity) -> String { "\(entity.table.index) \(number)" }

    /// Returns the number of a key that may be used again. An entity and its subentity have different keys, since the
    /// entity of a new row with records of both is undefined.
    private mutating func number(_ entity: CompiledEntity, asObject: Bool) -> Int? {
        var number = random.below(keyCount ?? (namesOnce ? 12 : 5))
        if entity.name == "Elf" {
            number = number % 2 + 5
        } else if entity.parent != nil {
            number = number % 2 + 3
        } else if asObject, entity.family.count > 1 {
            number %= 3
        }
        return !namesOnce || named.insert(name(number, entity)).inserted ? number : nil
    }

    private mutating func id(_ entity: CompiledEntity) -> JSONValue? {
        number(entity, asObject: false).map { key($0, of: entity) }
    }

    /// Returns the key members of a record. In the list of its owner it may omit the owner.
    private mutating func keyMembers(
        _ number: Int, of entity: CompiledEntity, isInList: Bool
    ) -> [JSONValue.Member] {
        guard let key = entity.compositeKey else { return [.init("id", self.key(number, of: entity))] }
        return zip(model.compiled.keyNames(of: entity), parts(number, of: entity, key)).compactMap { name, value in
            if name == "owner", isInList, random.chance(70) { return nil }
            return .init(name, value)
        }
    }

    private mutating func parts(_ number: Int, of entity: CompiledEntity, _ key: CompositeKey) -> [JSONValue] {
        let attributes = model.compiled[entity.table].attributes
        return key.parts.map { part in
            switch part {
            case .attribute(let slot) where attributes[slot].name == "part":
                self.value(number % 2, attributes[slot].type)
            // The list of a dependent row may supply the owner, so the remaining part alone is unique.
            case .attribute(let slot): self.value(entity.name == "Dot" ? number : number / 2, attributes[slot].type)
            case .relationship(let index):
                self.key(number % 2, of: model.compiled.entities[entity.relationships[index].destination])
            }
        }
    }

    private mutating func key(_ number: Int, of entity: CompiledEntity) -> JSONValue {
        if let key = entity.compositeKey {
            let parts = parts(number, of: entity, key)
            guard random.chance(30) else { return .array(parts) }
            return .object(zip(model.compiled.keyNames(of: entity), parts).map { .init($0, $1) })
        }
        guard let slot = entity.keySlot else { return .null }
        return value(number, model.compiled[entity.table].attributes[slot].type)
    }

    private mutating func value(_ number: Int, _ type: AttributeType) -> JSONValue {
        switch type {
        case .string: return .string("k\(number)")
        case .uuid:
            let digits = String(number, radix: 16)
            let text = "\(String(repeating: "0", count: 8 - digits.count))\(digits)-0000-0000-0000-00000000000A"
            return .string(random.chance(30) ? text.lowercased() : text)
        case .date:
            return random.chance(30)
                ? JSONValue(1_704_067_200 + number) : .string("2024-01-01T00:00:\(number < 10 ? "0" : "")\(number)Z")
        case .decimal: return random.chance(30) ? .string("\(number).50") : .number("\(number).5")
        case .double: return .number("\(number).25")
        default: return random.chance(10) ? .string("\(number)") : JSONValue(number)
        }
    }
}
