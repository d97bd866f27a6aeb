/// Reads the JSON of a schema file into a model draft. Records each error in the draft, and continues reading.
struct SchemaReader {
    /// The keys that each kind of object may have, as in `Docs/schema.schema.json`. Schema files of earlier versions
    /// have `fingerprints`. The reader accepts it with any value and ignores it.
    static let rootKeys = ["entities", "keys", "ignore", "$schema"]
    static let entityKeys = [
        "primaryKey", "attributes", "relationships", "parent", "abstract", "renamedFrom", "fingerprints",
        "keys", "ignore", "type", "discriminator", "table",
    ]
    static let attributeKeys = [
        "type", "remoteKey", "primaryKey", "optional", "default", "transformer", "export", "renamedFrom", "sourceType",
        "format", "column",
    ]
    static let relationshipKeys = [
        "entity", "many", "ordered", "inverse", "deleteRule", "remoteKey", "export", "optional", "renamedFrom",
        "keyedBy", "table", "column", "inverseColumn",
    ]

    var draft = ModelDraft()

    static func draft(of json: JSONValue) -> ModelDraft {
        var reader = SchemaReader()
        reader.read(json)
        return reader.draft
    }

    private mutating func read(_ json: JSONValue) {
        guard var root = SchemaObject(json, at: .root, keys: Self.rootKeys, noting: &draft) else { return }
        draft.rules = KeyRules(keyCase: root.keyCase(&draft), ignoredKeys: root.texts("ignore", &draft))
        guard let entities = root["entities"] else { return draft.report(root.path["entities"], "is missing") }
        for (name, value) in members(of: entities, at: root.path["entities"]) {
            draft.entities.append(entity(name, value))
        }
    }

    /// Returns the members of an object whose keys are names, such as `attributes`. Reports a value that is not an
    /// object. Reports and omits a second member with the same name.
    mutating func members(of value: JSONValue, at path: ModelPath) -> [(String, JSONValue)] {
        guard case .object(let members) = value else {
            draft.report(path, "expected an object, found \(value.kindName)")
            return []
        }
        var seen: Set<String> = []
        return members.compactMap { member in
            guard seen.insert(member.key).inserted else {
                draft.report(path[member.key], "the name is declared twice")
                return nil
            }
            return (member.key, member.value)
        }
    }

    private mutating func entity(_ name: String, _ value: JSONValue) -> SyncModel.Entity {
        var entity = SyncModel.Entity(name)
        guard var object = SchemaObject(value, at: .entity(name), keys: Self.entityKeys, noting: &draft) else {
            draft.unreadable.insert(name)
            return entity
        }
        entity.parent = object.text("parent", &draft)
        entity.isAbstract = object.flag("abstract", default: false, &draft)
        entity.primaryKey = object.names("primaryKey", &draft).map { SyncModel.PrimaryKey($0) }
        entity.renamedFrom = object.text("renamedFrom", &draft)
        entity.keyCase = object.keyCase(&draft)
        entity.ignoredKeys = object.texts("ignore", &draft)
        entity.resourceType = object.text("type", &draft)
        entity.discriminator = discriminator(&object)
        entity.table = object.text("table", &draft)
        for key in ["attributes", "relationships"] {
            if let value = object[key], value.kindName != "an object" { draft.unreadable.insert(name) }
        }
        for (member, value) in members(of: object["attributes"] ?? .object([]), at: object.path["attributes"]) {
            entity.attributes.append(attribute(member, value, of: name))
        }
        for (member, value) in members(of: object["relationships"] ?? .object([]), at: object.path["relationships"]) {
            relationship(member, value, of: name).map { entity.relationships.append($0) }
        }
        if object.hasProblems { draft.unreadable.insert(name) }
        return entity
    }

    // MARK: Members

    /// Reads an attribute. If its type is invalid, returns a string attribute, so that a primary key can still refer to
    /// it.
    private mutating func attribute(_ name: String, _ value: JSONValue, of entity: String) -> SyncModel.Attribute {
        let path = ModelPath.attribute(name, of: entity)
        var attribute = SyncModel.Attribute(name, .string)
        if case .string(let text) = value {
            guard let type = AttributeType(rawValue: text) else {
                draft.report(path, "unknown type '\(text)'; use one of \(Self.typeNames)")
                draft.unreadable.insert("\(entity).\(name)")
                return attribute
            }
            attribute.type = type
            return attribute
        }
        guard var object = SchemaObject(value, at: path, keys: Self.attributeKeys, noting: &draft) else {
            draft.unreadable.insert("\(entity).\(name)")
            return attribute
        }
        let type = object.choice("type", AttributeType.self, &draft)
        if object["type"] == nil { object.report(&draft, "type", "is missing; use one of \(Self.typeNames)") }
        attribute.type = type ?? .string
        attribute.remoteKey = object.text("remoteKey", &draft)
        attribute.isPrimaryKey = object.flag("primaryKey", default: false, &draft)
        attribute.isOptional = object.flag("optional", default: true, &draft)
        attribute.transformers = object.texts("transformer", &draft, orOne: true)
        attribute.format = object.text("format", &draft).map { AttributeFormat($0) }
        attribute.isExported = object.flag("export", default: true, &draft)
        attribute.renamedFrom = object.text("renamedFrom", &draft)
        attribute.sourceType = object.text("sourceType", &draft)
        attribute.column = object.text("column", &draft)
        if let type, let value = object["default"], value != .null {
            attribute.defaultValue = Coercion.storedValue(value, as: type)
            if attribute.defaultValue == nil {
                object.report(&draft, "default", "expected a value of type \(type.rawValue), found \(value.kindName)")
            }
        }
        if object.hasProblems { draft.unreadable.insert("\(entity).\(name)") }
        return attribute
    }

    private static var typeNames: String { AttributeType.allCases.map(\.rawValue).joined(separator: ", ") }

    private mutating func relationship(_ name: String, _ value: JSONValue, of entity: String) -> SyncModel.Relationship?
    {
        let path = ModelPath.relationship(name, of: entity)
        let member = "\(entity).\(name)"
        guard var object = SchemaObject(value, at: path, keys: Self.relationshipKeys, noting: &draft) else {
            draft.unreadable.insert(member)
            return nil
        }
        let destination = object.text("entity", &draft)
        if object["entity"] == nil { object.report(&draft, "entity", "is missing") }
        let relationship = SyncModel.Relationship(
            name, to: destination ?? "", many: object.flag("many", default: false, &draft),
            ordered: object.flag("ordered", default: false, &draft), inverse: object.text("inverse", &draft),
            deleteRule: object.choice("deleteRule", SyncModel.DeleteRule.self, &draft) ?? .nullify,
            remoteKey: object.text("remoteKey", &draft), isExported: object.flag("export", default: true, &draft),
            isOptional: object.flag("optional", default: true, &draft),
            renamedFrom: object.text("renamedFrom", &draft), keyedBy: memberNames(&object),
            table: object.text("table", &draft), column: object.text("column", &draft),
            inverseColumn: object.text("inverseColumn", &draft))
        if object.hasProblems { draft.unreadable.insert(member) }
        return destination == nil ? nil : relationship
    }
}

// MARK: - Record shapes

// Reads the declarations about the shape of records in JSON.
extension SchemaReader {
    static let discriminatorKeys = ["key", "values", "otherwise"]

    /// Reads the member `keyedBy`: the name of an attribute, or `true` for the primary key.
    mutating func memberNames(_ object: inout SchemaObject) -> KeyedBy? {
        switch object["keyedBy"] {
        case nil, .bool(false)?: nil
        case .bool(true)?: .primaryKey
        case .string?: object.text("keyedBy", &draft).map { .attribute($0) }
        case let value?:
            reportedNames(&object, value)
        }
    }

    private mutating func reportedNames(_ object: inout SchemaObject, _ value: JSONValue) -> KeyedBy? {
        object.report(&draft, "keyedBy", "expected the name of an attribute, or true, found \(value.kindName)")
        return nil
    }

    /// Reads `"discriminator": {"key": "type", "values": {"dog": "Dog"}, "otherwise": "skip"}`.
    mutating func discriminator(_ entity: inout SchemaObject) -> SyncModel.Discriminator? {
        guard let value = entity["discriminator"] else { return nil }
        let path = entity.path["discriminator"]
        guard var object = SchemaObject(value, at: path, keys: Self.discriminatorKeys, noting: &draft) else {
            return nil
        }
        for key in ["key", "values"] where object[key] == nil { object.report(&draft, key, "is missing") }
        var kinds: [SyncModel.Discriminator.Kind] = []
        for (name, value) in members(of: object["values"] ?? .object([]), at: path["values"]) {
            if case .string(let entity) = value {
                kinds.append(.init(name, entity))
            } else {
                draft.report(path["values"][name], "expected the name of an entity, found \(value.kindName)")
            }
        }
        guard let key = object.text("key", &draft), !object.hasProblems else { return nil }
        let fallback = object.choice("otherwise", SyncModel.Discriminator.Fallback.self, &draft) ?? .skip
        return SyncModel.Discriminator(key, kinds: kinds, fallback: fallback)
    }
}

// MARK: - SchemaObject

/// One object of a schema file, whose members are read by name. Reading an invalid value records a problem in the
/// draft.
struct SchemaObject {
    let path: ModelPath
    private var members: [String: JSONValue] = [:]
    /// Whether a key or value of this object is invalid. Problems in nested objects do not count.
    private(set) var hasProblems = false

    /// Creates an object from a JSON value; nil if the value is not an object. Records a value that is not an object,
    /// unknown keys and repeated keys as problems.
    init?(_ value: JSONValue, at path: ModelPath, keys: [String], noting draft: inout ModelDraft) {
        self.path = path
        guard case .object(let all) = value else {
            draft.report(path, "expected an object, found \(value.kindName)")
            return nil
        }
        for member in all {
            if !keys.contains(member.key) {
                report(&draft, member.key, "unknown key; use one of \(keys.joined(separator: ", "))")
            } else if members.updateValue(member.value, forKey: member.key) != nil {
                report(&draft, member.key, "the key occurs twice")
            }
        }
    }

    subscript(key: String) -> JSONValue? { members[key] }

    mutating func report(_ draft: inout ModelDraft, _ key: String, _ message: String) {
        hasProblems = true
        draft.report(path[key], message)
    }

    mutating func text(_ key: String, _ draft: inout ModelDraft) -> String? {
        guard let value = members[key] else { return nil }
        guard case .string(let text) = value else {
            report(&draft, key, "expected a string, found \(value.kindName)")
            return nil
        }
        guard !text.isEmpty else {
            report(&draft, key, "must not be empty")
            return nil
        }
        return text
    }

    /// Reads a name or a list of names; nil if the member is absent or invalid.
    mutating func names(_ key: String, _ draft: inout ModelDraft) -> [String]? {
        guard case .array(let elements)? = members[key] else { return text(key, &draft).map { [$0] } }
        let names = elements.compactMap { element -> String? in
            guard case .string(let name) = element, !name.isEmpty else { return nil }
            return name
        }
        guard names.count == elements.count, !names.isEmpty else {
            report(&draft, key, "expected a name or a list of names")
            return nil
        }
        return names
    }

    mutating func flag(_ key: String, default fallback: Bool, _ draft: inout ModelDraft) -> Bool {
        guard let value = members[key] else { return fallback }
        guard case .bool(let flag) = value else {
            report(&draft, key, "expected true or false, found \(value.kindName)")
            return fallback
        }
        return flag
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, _ type: Choice.Type, _ draft: inout ModelDraft
    ) -> Choice? {
        guard let text = text(key, &draft) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            report(&draft, key, "unknown value '\(text)' of '\(key)'; use one of \(known)")
            return nil
        }
        return choice
    }
}

extension JSONValue {
    /// The kind of value in messages, such as `an array`.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

// MARK: - SchemaObject+Rules

extension SchemaObject {
    /// Reads the spelling of JSON keys in the member `keys`; nil if the member is absent or invalid.
    mutating func keyCase(_ draft: inout ModelDraft) -> KeyCase? {
        guard let word = text("keys", &draft) else { return nil }
        guard let found = KeyCase(word: word) else {
            report(&draft, "keys", KeyCase.problem(with: word))
            return nil
        }
        return found
    }

    /// Reads a list of strings that are not empty. Reports and omits other elements.
    ///
    /// - Parameter orOne: Whether a single string is allowed instead of a list.
    mutating func texts(_ key: String, _ draft: inout ModelDraft, orOne: Bool = false) -> [String] {
        guard let value = self[key] else { return [] }
        if orOne, case .string = value { return text(key, &draft).map { [$0] } ?? [] }
        guard case .array(let elements) = value else {
            report(&draft, key, "expected \(orOne ? "a string or " : "")an array of strings, found \(value.kindName)")
            return []
        }
        return elements.compactMap { element in
            guard case .string(let text) = element, !text.isEmpty else {
                let found = element == .string("") ? "an empty string" : element.kindName
                report(&draft, key, "expected strings in the array, found \(found)")
                return nil
            }
            return text
        }
    }
}
