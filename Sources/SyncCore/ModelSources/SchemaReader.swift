/// Reads the JSON of a schema file. What cannot be read is noted, and the rest read on.
struct SchemaReader {
    /// The keys of each kind of object; `Docs/schema.schema.json` has the same. `fingerprints` is taken with any value and
    /// has no effect: models of earlier versions have it.
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
        draft.rules = KeyRules(keys: root.keyCase(&draft), ignore: root.texts("ignore", &draft))
        guard let entities = root["entities"] else { return draft.note(root.path["entities"], "is missing") }
        for (name, value) in members(of: entities, at: root.path["entities"]) {
            draft.entities.append(entity(name, value))
        }
    }

    /// The named objects of `entities`, `attributes` or `relationships`.
    mutating func members(of value: JSONValue, at path: ModelPath) -> [(String, JSONValue)] {
        guard case .object(let members) = value else {
            draft.note(path, "expected an object, found \(value.kindName)")
            return []
        }
        var seen: Set<String> = []
        return members.compactMap { member in
            guard seen.insert(member.key).inserted else {
                draft.note(path[member.key], "the name is given twice")
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
        entity.keys = object.keyCase(&draft)
        entity.ignore = object.texts("ignore", &draft)
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

    /// An attribute whose type cannot be read counts as a string, so that others may still refer to it.
    private mutating func attribute(_ name: String, _ value: JSONValue, of entity: String) -> SyncModel.Attribute {
        let path = ModelPath.attribute(name, of: entity)
        var attribute = SyncModel.Attribute(name, .string)
        if case .string(let text) = value {
            guard let type = AttributeType(rawValue: text) else {
                draft.note(path, "unknown type '\(text)'; known are \(Self.typeNames)")
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
        if object["type"] == nil { object.note(&draft, "type", "is missing; known are \(Self.typeNames)") }
        attribute.type = type ?? .string
        attribute.remoteKey = object.text("remoteKey", &draft)
        attribute.isPrimaryKey = object.flag("primaryKey", default: false, &draft)
        attribute.isOptional = object.flag("optional", default: true, &draft)
        attribute.transformers = object.texts("transformer", &draft, orOne: true)
        attribute.format = object.text("format", &draft).map(AttributeFormat.init)
        attribute.isExportable = object.flag("export", default: true, &draft)
        attribute.renamedFrom = object.text("renamedFrom", &draft)
        attribute.sourceType = object.text("sourceType", &draft)
        attribute.column = object.text("column", &draft)
        if let type, let value = object["default"], value != .null {
            attribute.defaultValue = Coercion.storedValue(value, as: type)
            if attribute.defaultValue == nil {
                object.note(&draft, "default", "\(value.kindName) that is not a value of the type \(type.rawValue)")
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
        if object["entity"] == nil { object.note(&draft, "entity", "is missing") }
        let relationship = SyncModel.Relationship(
            name, to: destination ?? "", many: object.flag("many", default: false, &draft),
            ordered: object.flag("ordered", default: false, &draft), inverse: object.text("inverse", &draft),
            deleteRule: object.choice("deleteRule", SyncModel.DeleteRule.self, &draft) ?? .nullify,
            remoteKey: object.text("remoteKey", &draft), isExportable: object.flag("export", default: true, &draft),
            isOptional: object.flag("optional", default: true, &draft),
            renamedFrom: object.text("renamedFrom", &draft), keyedBy: memberNames(&object),
            table: object.text("table", &draft), column: object.text("column", &draft),
            inverseColumn: object.text("inverseColumn", &draft))
        if object.hasProblems { draft.unreadable.insert(member) }
        return destination == nil ? nil : relationship
    }
}
