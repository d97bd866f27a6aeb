/// Writes a model as the JSON of a schema file, which ``SchemaReader`` reads. A member whose value is the default is
/// omitted.
enum SchemaWriter {
    /// The number of nested objects that have one member on each line. The innermost of them are `attributes`,
    /// `relationships` and `discriminator`.
    static let openLevels = 4

    static func json(of model: SyncModel) -> JSONValue {
        var object = Members()
        object.add("keys", model.keyCase?.word)
        object.add("ignore", model.ignoredKeys)
        object.add("entities", .object(model.entities.map { .init($0.name, entity($0)) }))
        return .object(object.members)
    }

    private static func entity(_ entity: SyncModel.Entity) -> JSONValue {
        var object = Members()
        object.add("parent", entity.parent)
        object.add("abstract", entity.isAbstract, unless: false)
        if let key = entity.primaryKey {
            object.add("primaryKey", key.single.map { .string($0) } ?? .array(key.parts.map { .string($0) }))
        }
        object.add("renamedFrom", entity.renamedFrom)
        object.add("keys", entity.keyCase?.word)
        object.add("ignore", entity.ignoredKeys)
        object.add("type", entity.resourceType)
        object.add("table", entity.table)
        if let found = entity.discriminator { object.add("discriminator", discriminator(found)) }
        if !entity.attributes.isEmpty {
            object.add("attributes", .object(entity.attributes.map { .init($0.name, attribute($0)) }))
        }
        if !entity.relationships.isEmpty {
            object.add("relationships", .object(entity.relationships.map { .init($0.name, relationship($0)) }))
        }
        return .object(object.members)
    }

    /// Returns the JSON of an attribute: the name of its type if all other properties have their defaults, else an
    /// object.
    private static func attribute(_ attribute: SyncModel.Attribute) -> JSONValue {
        var object = Members()
        object.add("type", .string(attribute.type.rawValue))
        object.add("primaryKey", attribute.isPrimaryKey, unless: false)
        object.add("remoteKey", attribute.remoteKey)
        object.add("optional", attribute.isOptional, unless: true)
        if let value = attribute.defaultValue { object.add("default", value.jsonForm) }
        if attribute.transformers.count > 1 {
            object.add("transformer", attribute.transformers)
        } else {
            object.add("transformer", attribute.transformer)
        }
        object.add("format", attribute.format?.text)
        object.add("export", attribute.isExported, unless: true)
        object.add("renamedFrom", attribute.renamedFrom)
        object.add("sourceType", attribute.sourceType)
        object.add("column", attribute.column)
        return object.members.count == 1 ? .string(attribute.type.rawValue) : .object(object.members)
    }

    private static func relationship(_ relationship: SyncModel.Relationship) -> JSONValue {
        var object = Members()
        object.add("entity", .string(relationship.destination))
        object.add("many", relationship.isToMany, unless: false)
        object.add("ordered", relationship.isOrdered, unless: false)
        object.add("inverse", relationship.inverse)
        if relationship.deleteRule != .nullify { object.add("deleteRule", relationship.deleteRule.rawValue) }
        object.add("remoteKey", relationship.remoteKey)
        object.add("export", relationship.isExported, unless: true)
        object.add("optional", relationship.isOptional, unless: true)
        object.add("renamedFrom", relationship.renamedFrom)
        switch relationship.keyedBy {
        case .primaryKey?: object.add("keyedBy", .bool(true))
        case .attribute(let name)?: object.add("keyedBy", name)
        case nil: break
        }
        object.add("table", relationship.table)
        object.add("column", relationship.column)
        object.add("inverseColumn", relationship.inverseColumn)
        return .object(object.members)
    }

    private static func discriminator(_ discriminator: SyncModel.Discriminator) -> JSONValue {
        var object = Members()
        object.add("key", discriminator.key)
        object.add("values", .object(discriminator.kinds.map { .init($0.value, .string($0.entity)) }))
        if discriminator.fallback != .skip { object.add("otherwise", discriminator.fallback.rawValue) }
        return .object(object.members)
    }

    /// The members of an object. A nil text, an empty list and a flag with its default value are not added.
    private struct Members {
        private(set) var members: [JSONValue.Member] = []

        mutating func add(_ key: String, _ value: JSONValue) { members.append(.init(key, value)) }

        mutating func add(_ key: String, _ text: String?) {
            if let text { add(key, .string(text)) }
        }

        mutating func add(_ key: String, _ texts: [String]) {
            if !texts.isEmpty { add(key, .array(texts.map(JSONValue.string))) }
        }

        mutating func add(_ key: String, _ flag: Bool, unless usual: Bool) {
            if flag != usual { add(key, .bool(flag)) }
        }
    }
}

/// A writer of readable JSON. The outer objects have one member on each line, and deeper objects are on one line. The
/// order of members and the text of numbers do not change.
enum PrettyJSON {
    static func text(_ value: JSONValue, openLevels: Int) -> String {
        var text = ""
        append(value, to: &text, level: 0, openLevels: openLevels)
        return text
    }

    private static func append(_ value: JSONValue, to text: inout String, level: Int, openLevels: Int) {
        switch value {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): text += JSONText.quoted(string)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                append(element, to: &text, level: openLevels, openLevels: openLevels)
            }
            text += "]"
        case .object(let members) where members.isEmpty: text += "{}"
        case .object(let members):
            let isOpen = level < openLevels
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                text += isOpen ? "\n" + indentation(level + 1) : " "
                text += "\(JSONText.quoted(member.key)): "
                append(member.value, to: &text, level: level + 1, openLevels: openLevels)
            }
            text += isOpen ? "\n\(indentation(level))}" : " }"
        }
    }

    private static func indentation(_ level: Int) -> String { String(repeating: "  ", count: level) }
}
