import Foundation
import SyncCore

/// A pure function of the library, which a case calls instead of running steps.
enum ScenarioFunction: Sendable {
    case snakeCase(String, out: String)
    /// `out` is nil for a key that has no camelCase form.
    case camelCase(String, out: String?)
    case parseDate(JSONValue, out: String?)
    case primaryKey(entity: String, local: String?, remote: String?, type: String?)
    /// The key under which an attribute is exported.
    case remoteKey(entity: String, attribute: String, case: KeyCase?, isNested: Bool, out: String)
    /// The attribute that a JSON key is read into.
    case attributeForKey(entity: String, key: String, out: String?)
    /// The to-one relationship of an entity to itself that is null for the rows in the automatic scope.
    case rootScope(entity: String, out: String?)

    var needsModel: Bool {
        switch self {
        case .snakeCase, .camelCase, .parseDate: false
        case .primaryKey, .remoteKey, .attributeForKey, .rootScope: true
        }
    }
}

extension ScenarioFunction {
    /// Reads the fields of a case that has a `function`.
    init(_ fields: inout ScenarioFields, hasModel: Bool) throws(ScenarioError) {
        let name = try fields.string("function")
        switch name {
        case "snakeCase": self = .snakeCase(try fields.string("in"), out: try fields.string("out"))
        case "camelCase": self = .camelCase(try fields.string("in"), out: try fields.stringOrNull("out"))
        case "parseDate": self = .parseDate(try fields.value("in"), out: try fields.stringOrNull("out"))
        case "primaryKey":
            self = .primaryKey(
                entity: try fields.string("entity"), local: try fields.stringOrNull("local"),
                remote: try fields.stringOrNull("remote"), type: try fields.optionalString("type"))
        case "remoteKey":
            self = .remoteKey(
                entity: try fields.string("entity"), attribute: try fields.string("attribute"),
                case: try fields.keyCase("case"), isNested: try Self.isNested(&fields),
                out: try fields.string("out"))
        case "attributeForKey":
            self = .attributeForKey(
                entity: try fields.string("entity"), key: try fields.string("key"),
                out: try fields.stringOrNull("out"))
        case "rootScope":
            self = .rootScope(entity: try fields.string("entity"), out: try fields.stringOrNull("out"))
        default: throw ScenarioError("unknown function '\(name)'")
        }
        if needsModel, !hasModel { throw ScenarioError("the case lacks the field 'model'") }
    }

    private static func isNested(_ fields: inout ScenarioFields) throws(ScenarioError) -> Bool {
        guard let name = try fields.optionalString("relationships") else { return false }
        guard let relationships = ExportOptions.Relationships(rawValue: name) else {
            throw ScenarioError("unknown relationships option '\(name)'")
        }
        return relationships == .nested
    }
}

extension ScenarioFields {
    /// Reads a key case such as `snake`, or `snake_case` as in a schema file; nil if the field is missing.
    mutating func keyCase(_ name: String) throws(ScenarioError) -> KeyCase? {
        guard let text = try optionalString(name) else { return nil }
        guard let keyCase = KeyCase(rawValue: text) ?? KeyCase(word: text) else {
            throw ScenarioError("unknown case '\(text)'")
        }
        return keyCase
    }
}

// MARK: Evaluation

extension ScenarioFunction {
    /// Calls the function and returns the differences from the expected result; empty if there are none.
    func failures(model: SyncModel?) throws -> [ScenarioReport.Failure] {
        try comparisons(model: model).filter { $0.expected != $0.found }.map {
            ScenarioReport.Failure(
                expected: Self.text($0.expected), found: Self.text($0.found), message: $0.message)
        }
    }

    private typealias Comparison = (message: String, expected: String?, found: String?)

    private func comparisons(model: SyncModel?) throws -> [Comparison] {
        switch self {
        case .snakeCase(let text, let out):
            return [("snakeCase of \(text)", out, Inflection.snakeCase(text))]
        case .camelCase(let text, let out):
            return [("camelCase of \(text)", out, Inflection.camelCase(text))]
        case .parseDate(let value, let out):
            return [("parseDate of \(value.scenarioText)", try Self.normal(out), Self.parsedDate(value))]
        case .primaryKey, .remoteKey, .attributeForKey, .rootScope:
            guard let model else { throw ScenarioError("the case lacks the field 'model'") }
            return try comparisons(in: model)
        }
    }

    private func comparisons(in model: SyncModel) throws -> [Comparison] {
        switch self {
        case .primaryKey(let entity, let local, let remote, let type):
            let key = try model.primaryKey(of: entity)
            let found = key?.attribute.typeName
            return [
                ("local key of \(entity)", local, key?.local), ("remote key of \(entity)", remote, key?.remote),
                ("type of the key of \(entity)", type ?? found, found),
            ]
        case .remoteKey(let entity, let attribute, let keyCase, let isNested, let out):
            let key = try model.remoteKey(
                forAttribute: attribute, of: entity, case: keyCase, nested: isNested)
            return [("remote key of \(entity).\(attribute)", out, key)]
        case .attributeForKey(let entity, let key, let out):
            return [("attribute of \(entity) for the key \(key)", out, try model.attribute(forKey: key, in: entity))]
        case .rootScope(let entity, let out):
            return [("root scope of \(entity)", out, try model.compiled.entity(named: entity).rootScope?.name)]
        case .snakeCase, .camelCase, .parseDate:
            return []
        }
    }

    /// Returns the text of the date that a date attribute would store for the value; nil if it would not store a date.
    private static func parsedDate(_ value: JSONValue) -> String? {
        guard case .date(let date)? = Coercion.storedValue(value, as: .date) else { return nil }
        return ScenarioDate.text(date)
    }

    /// Returns an expected date in the same format as a found date.
    private static func normal(_ text: String?) throws -> String? {
        guard let text else { return nil }
        guard let date = ScenarioDate.date(text) else { throw ScenarioError("'\(text)' is not a UTC date") }
        return ScenarioDate.text(date)
    }

    private static func text(_ value: String?) -> String {
        value.map { JSONValue.string($0).scenarioText } ?? "null"
    }
}

extension SyncModel.Attribute {
    /// The name of the type in the source of the model, or else the name of the attribute type.
    fileprivate var typeName: String { sourceType ?? type.rawValue }
}
