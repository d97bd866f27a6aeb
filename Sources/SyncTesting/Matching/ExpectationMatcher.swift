import Foundation
import SyncCore
import SyncSQLite

/// Compares a row with the expected values of a scenario.
struct ExpectationMatcher<Source: RowSource> {
    let model: SyncModel
    let source: Source

    /// Returns the differences between a row and an expectation; empty if there are none.
    ///
    /// - Throws: ``ScenarioError`` if the expectation is invalid: an unknown name, or a value of the wrong kind.
    func mismatches(_ expected: JSONValue, in row: StoredRowView, at path: String = "") async throws -> [Mismatch] {
        guard case .object(let members) = expected else {
            throw ScenarioError("expected values must be an object, not \(expected.kindName)")
        }
        let entity = try model.compiled.entity(named: row.entity)
        var mismatches: [Mismatch] = []
        for member in members {
            let path = path.isEmpty ? member.key : "\(path).\(member.key)"
            if let slot = entity.slotByName[member.key] {
                let attribute = model.compiled[entity.table].attributes[slot]
                let found = row.values[attribute.name] ?? .null
                if !ValueMatcher.matches(member.value, found, isFloat: attribute.sourceType == "Float") {
                    mismatches.append(Mismatch(path, member.value, ValueMatcher.json(found)))
                }
            } else if let relationship = entity.relationship(named: member.key) {
                let targets = try await source.targets(of: row, along: relationship.name)
                mismatches +=
                    relationship.isToMany
                    ? try toMany(member.value, targets, at: path)
                    : try await toOne(member.value, targets, at: path)
            } else {
                throw ScenarioError("entity \(entity.name) has no attribute or relationship '\(member.key)'")
            }
        }
        return mismatches
    }

    // MARK: Relationships

    private func toOne(_ expected: JSONValue, _ targets: [StoredRowView], at path: String) async throws -> [Mismatch] {
        guard targets.count <= 1 else { return [Mismatch(path, expected, .string("\(targets.count) rows"))] }
        switch (expected, targets.first) {
        case (.null, nil): return []
        case (.null, let target?): return [Mismatch(path, .null, summary(of: target))]
        case (.object, nil): return [Mismatch(path, expected, .null)]
        case (.object, let target?): return try await mismatches(expected, in: target, at: path)
        default: throw ScenarioError("'\(path)' is a to-one relationship: expect an object or null")
        }
    }

    private func toMany(_ expected: JSONValue, _ targets: [StoredRowView], at path: String) throws -> [Mismatch] {
        var fields = try ScenarioFields(expected, of: "'\(path)', a to-many relationship,")
        guard !fields.names.isEmpty else { throw ScenarioError("'\(path)' must not be empty") }
        var mismatches: [Mismatch] = []
        if let count = try fields.optionalInteger("count"), count != targets.count {
            mismatches.append(Mismatch("\(path).count", .number("\(count)"), .number("\(targets.count)")))
        }
        for (name, isOrdered) in [("ids", false), ("orderedIDs", true)] {
            guard let value = fields.optional(name) else { continue }
            guard case .array(let ids) = value else { throw ScenarioError("'\(path).\(name)' must be an array") }
            let found = try targets.map(key)
            if !(isOrdered ? sameOrder(ids, found) : sameMembers(ids, found)) {
                mismatches.append(Mismatch("\(path).\(name)", value, .array(found.map(\.json))))
            }
        }
        try fields.finish()
        return mismatches
    }

    private func sameOrder(_ expected: [JSONValue], _ found: [ScenarioKey]) -> Bool {
        expected.count == found.count && zip(expected, found).allSatisfy { $1.matches($0) }
    }

    private func sameMembers(_ expected: [JSONValue], _ found: [ScenarioKey]) -> Bool {
        var rest = found
        for id in expected {
            guard let index = rest.firstIndex(where: { $0.matches(id) }) else { return false }
            rest.remove(at: index)
        }
        return rest.isEmpty
    }

    // MARK: Keys

    private func key(of row: StoredRowView) throws -> ScenarioKey {
        if let name = try keyName(of: row) { return .single(row.values[name] ?? .null) }
        let entity = try model.compiled.entity(named: row.entity)
        guard entity.isKeyed, let key = row.record?.key else {
            throw ScenarioError("entity \(row.entity) has no primary key; its rows have no IDs")
        }
        return ScenarioKey(key, model.compiled.keyType(of: entity.id))
    }

    private func keyName(of row: StoredRowView) throws -> String? {
        let entity = try model.compiled.entity(named: row.entity)
        return entity.keySlot.map { model.compiled[entity.table].attributes[$0].name }
    }

    /// Returns a description of an unexpected row by its key, for failure reports.
    private func summary(of row: StoredRowView) -> JSONValue {
        guard let name = try? keyName(of: row) else { return .string("a row of \(row.entity)") }
        return .object([.init(name, ValueMatcher.json(row.values[name] ?? .null))])
    }
}

extension Mismatch {
    fileprivate init(_ path: String, _ expected: JSONValue, _ found: JSONValue) {
        self.init(path: path, expected: expected.scenarioText, found: found.scenarioText)
    }
}

/// A stored row with the values that the matcher compares.
struct StoredRowView: Sendable {
    /// The entity of the row, which may be a subentity of the fetched one.
    var entity: String
    /// The values by attribute name. Missing values are null.
    var values: [String: StoredValue]
    /// The fetched row, from which the matcher follows links.
    var record: SyncRow?
}

/// A source of the rows to which a row has links.
protocol RowSource: Sendable {
    /// Returns the rows of a relationship, in their order.
    func targets(of row: StoredRowView, along relationship: String) async throws -> [StoredRowView]
}

/// A difference between an expected and a found value.
struct Mismatch: LocalizedError, Hashable {
    /// The path of the value through attributes and relationships, such as `company.name`.
    var path: String
    var expected: String
    var found: String

    var errorDescription: String? { "\(path): expected \(expected), found \(found)" }
}

/// Compares the JSON of a sync result with the expectation of a step.
///
/// A found object may have more members than the expected one. A found array must have exactly the expected elements.
enum ResultMatcher {
    /// Returns the first difference, in the order of the expectation; nil if there is none.
    static func mismatch(_ expected: JSONValue, _ found: JSONValue?, at path: String) -> Mismatch? {
        switch (expected, found) {
        case (.object(let members), .object):
            return first(members.map { ($0.value, found?[$0.key], "\(path).\($0.key)") })
        case (.array(let left), .array(let right)) where left.count == right.count:
            return first(zip(left, right).enumerated().map { ($1.0, $1.1, "\(path)[\($0)]") })
        case (.null, nil):
            return nil
        default:
            if let found, JSONComparison.equal(expected, found) { return nil }
            return Mismatch(path: path, expected: expected.scenarioText, found: found?.scenarioText ?? "nothing")
        }
    }

    private static func first(_ pairs: [(JSONValue, JSONValue?, String)]) -> Mismatch? {
        for (expected, found, path) in pairs {
            if let mismatch = mismatch(expected, found, at: path) { return mismatch }
        }
        return nil
    }
}

/// Compares exported JSON with the expectation of a scenario.
///
/// An array of objects, or an object with the keys "0", "1", …, is a to-many relationship. Its rows may have any order
/// unless `isOrdered` is set. The numbers 0 and 1 equal `false` and `true`.
struct ExportMatcher {
    var isOrdered = false

    func matches(_ expected: JSONValue, _ found: JSONValue) -> Bool {
        switch (expected, found) {
        case (.bool(let flag), .number(let text)), (.number(let text), .bool(let flag)):
            return JSONComparison.equal(text, flag ? "1" : "0")
        case (.array(let l), .array(let r)):
            return matches(l, r, asSet: !isOrdered && (l + r).allSatisfy(\.isObject))
        case (.object(let l), .object(let r)):
            let (left, right) = (Self.dictionary(l), Self.dictionary(r))
            guard left.count == right.count else { return false }
            if let l = Self.list(left), let r = Self.list(right), !l.isEmpty {
                return matches(l, r, asSet: !isOrdered)
            }
            return left.allSatisfy { key, value in right[key].map { matches(value, $0) } ?? false }
        default:
            return JSONComparison.equal(expected, found)
        }
    }

    private func matches(_ expected: [JSONValue], _ found: [JSONValue], asSet: Bool) -> Bool {
        guard expected.count == found.count else { return false }
        guard asSet else { return zip(expected, found).allSatisfy(matches) }
        var rest = found
        for value in expected {
            guard let index = rest.firstIndex(where: { matches(value, $0) }) else { return false }
            rest.remove(at: index)
        }
        return true
    }

    /// The keys are strings as JSON, which are compared byte for byte.
    private static func dictionary(_ members: [JSONValue.Member]) -> [JSONValue: JSONValue] {
        Dictionary(members.map { (JSONValue.string($0.key), $0.value) }) { $1 }
    }

    /// Returns the values of an object with the keys "0", "1", …, in that order; nil for other objects.
    private static func list(_ object: [JSONValue: JSONValue]) -> [JSONValue]? {
        let values = (0..<object.count).map { object[.string("\($0)")] }
        return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    }
}

extension JSONValue {
    fileprivate var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }
}

// MARK: - Keys

/// A primary key in the notation of scenarios. Each part is a value of its type, so a decimal part is a number.
enum ScenarioKey: Sendable {
    case single(StoredValue)
    case composite([ScenarioKey])

    init(_ key: PrimaryKeyValue, _ type: KeyType?) {
        switch (key, type) {
        case (.composite(let parts), .composite(let types)?) where parts.count == types.count:
            self = .composite(zip(parts, types).map { ScenarioKey($0, $1) })
        case (_, .single(let type)?):
            self = .single(Coercion.storedValue(key.json, as: type) ?? .json(key.json))
        default:
            self = .single(.json(key.json))
        }
    }

    var json: JSONValue {
        switch self {
        case .single(let value): ValueMatcher.json(value)
        case .composite(let parts): .array(parts.map(\.json))
        }
    }

    func matches(_ expected: JSONValue) -> Bool {
        switch (self, expected) {
        case (.single(let value), _): ValueMatcher.matches(expected, value)
        case (.composite(let parts), .array(let values)):
            parts.count == values.count && zip(parts, values).allSatisfy { $0.matches($1) }
        case (.composite, _): false
        }
    }
}
