import SyncCore

/// A pure function of the library, called by a case instead of steps.
enum ScenarioFunction: Sendable {
    case snakeCase(String, out: String)
    /// Nil for a key that is no name in any case.
    case camelCase(String, out: String?)
    case parseDate(JSONValue, out: String?)
    case primaryKey(entity: String, local: String?, remote: String?, type: String?)
    /// The key under which an attribute is exported.
    case remoteKey(entity: String, attribute: String, case: KeyCase?, isNested: Bool, out: String)
    /// The attribute that a JSON key fills.
    case attributeForKey(entity: String, key: String, out: String?)
    /// The to-one self relationship that is nil for rows in scope of a root-level sync.
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
    /// `snake`, or as a schema file has it, `snake_case`; nil if the field is missing.
    mutating func keyCase(_ name: String) throws(ScenarioError) -> KeyCase? {
        guard let text = try optionalString(name) else { return nil }
        guard let keyCase = KeyCase(rawValue: text) ?? KeyCase(word: text) else {
            throw ScenarioError("unknown case '\(text)'")
        }
        return keyCase
    }
}
