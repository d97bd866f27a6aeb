import Foundation
import Sync

/// Random records of an entity: values of every type, null and absent values, objects and IDs. There are few keys, so
/// that records share them.
struct RandomPayload {
    let model: SyncModel
    var numbers: RandomNumbers

    init(_ model: SyncModel, seed: UInt64) {
        self.model = model
        numbers = RandomNumbers(seed: seed)
    }

    /// The entities whose rows can be synced.
    var entities: [SyncModel.Entity] {
        model.entities.filter { entity in
            !entity.isAbstract && (try? model.primaryKey(of: entity.name)) ?? nil != nil
        }
    }

    mutating func records(of entity: SyncModel.Entity) throws -> JSONValue {
        .array(try (0...numbers.below(4)).map { _ in try record(of: entity, depth: 0) })
    }

    private mutating func record(of entity: SyncModel.Entity, depth: Int) throws -> JSONValue {
        var object: [String: JSONValue] = [:]
        let key = try model.primaryKey(of: entity.name)
        for attribute in lineage(of: entity).flatMap(\.attributes) {
            let isKey = attribute.name == key?.local
            if !isKey, numbers.chance(0.2) { continue }
            let path = try model.remoteKey(forAttribute: attribute.name, of: entity.name)
            let isNull = !isKey && numbers.chance(0.15)
            put(
                isNull ? .null : isKey ? self.key(attribute.type, of: entity) : value(attribute.type), at: path,
                in: &object)
        }
        for relationship in lineage(of: entity).flatMap(\.relationships) where !numbers.chance(0.4) {
            guard let (key, value) = try link(relationship, depth: depth) else { continue }
            put(value, at: key, in: &object)
        }
        return json(object)
    }

    private func lineage(of entity: SyncModel.Entity) -> [SyncModel.Entity] {
        (entity.parent.flatMap(model.entity(named:)).map(lineage) ?? []) + [entity]
    }

    // MARK: Relationships

    private mutating func link(_ relationship: SyncModel.Relationship, depth: Int) throws -> (String, JSONValue)? {
        guard let target = model.entity(named: relationship.destination) else { return nil }
        let name = relationship.remoteKey ?? Inflection.snakeCase(relationship.name)
        if numbers.chance(0.1) { return (name, .null) }
        let key = try model.primaryKey(of: target.name)
        if let key, target.isAbstract || depth > 1 || numbers.chance(0.3) {
            let ids = (0..<numbers.below(4)).map { _ in self.key(key.attribute.type, of: target) }
            return (name, relationship.isToMany ? .array(ids) : ids.first ?? .null)
        }
        guard depth <= 1, !target.isAbstract else { return nil }
        guard relationship.isToMany else { return (name, try record(of: target, depth: depth + 1)) }
        return (name, .array(try (0..<numbers.below(4)).map { _ in try record(of: target, depth: depth + 1) }))
    }

    // MARK: Values

    /// Returns the key of one of few rows. Entities of one table have different keys, as a row is of one entity only.
    private mutating func key(_ type: AttributeType, of entity: SyncModel.Entity) -> JSONValue {
        let concrete = model.entities.indices.filter { index in
            !model.entities[index].isAbstract && lineage(of: model.entities[index]).contains(entity)
        }
        let rows = entity.isAbstract ? concrete.randomElement(using: &numbers) : model.entities.firstIndex(of: entity)
        let number = (rows ?? 0) * 10 + 1 + numbers.below(4)
        switch type {
        case .integer: return JSONValue(number)
        case .double: return JSONValue(floatLiteral: Double(number) / 4)
        case .decimal: return .number("\(number).5")
        case .date: return JSONValue(number * 997)
        case .uuid: return .string("E621E1F8-C36C-495A-93FC-0C247A3E6E\(number < 10 ? "0" : "")\(number)")
        default: return .string("k\(number)")
        }
    }

    private mutating func value(_ type: AttributeType) -> JSONValue {
        let number = numbers.below(2_000_000) - 1_000_000
        switch type {
        case .integer: return JSONValue(number)
        case .double: return JSONValue(floatLiteral: Double(number) / 7)
        case .decimal: return .number("\(number).\(numbers.below(1_000_000_000))1")
        case .boolean: return .bool(numbers.chance(0.5))
        case .string, .transformable: return .string(text(number))
        case .date: return JSONValue(number * 997)
        case .uuid: return .string("E621E1F8-C36C-495A-93FC-0C247A3E6E0\(abs(number) % 10)")
        case .url: return .string("https://example.org/\(number)?a=b#c")
        case .binary: return .string(Data(text(number).utf8).base64EncodedString())
        case .json: return numbers.chance(0.5) ? [.string(text(number)), 1, nil] : ["b": ["x": []], "a": 1.5]
        }
    }

    private mutating func text(_ number: Int) -> String {
        ["", "\(number)", "é e\u{301} \u{1F469}\u{200D}\u{1F680}", "a\"b\\c\n\u{0}d", "null", "2024-02-29"][
            numbers.below(6)]
    }

    // MARK: Dotted keys

    private func put(_ value: JSONValue, at path: String, in object: inout [String: JSONValue]) {
        object[path] = value
    }

    /// Converts dotted keys to nested objects.
    private func json(_ object: [String: JSONValue]) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            let names = key.split(separator: ".").map(String.init)
            members[names[0]] = Self.merged(members[names[0]], names.dropFirst(), value)
        }
        return .object(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    private static func merged(_ old: JSONValue?, _ path: ArraySlice<String>, _ value: JSONValue) -> JSONValue {
        guard let key = path.first else { return value }
        var members: [JSONValue.Member] = []
        if case .object(let present)? = old { members = present }
        let inner = merged(members.first { $0.key == key }?.value, path.dropFirst(), value)
        return .object(members.filter { $0.key != key } + [.init(key, inner)])
    }
}
