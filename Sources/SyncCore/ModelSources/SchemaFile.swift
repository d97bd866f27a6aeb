import Foundation

/// The project's own model format, a JSON file (`Docs/schema.schema.json`), read into entities.
///
/// Reads on after a problem, so that all of them are reported at once.
struct SchemaFile {
    private(set) var entities: [Entity] = []
    private var problems: [SyncError.Problem] = []

    /// - Throws: ``SyncError`` `malformedJSON`, or `invalidModel` with every problem and its path.
    init(_ data: Data) throws {
        let root = try JSONValue(parsing: data)
        read(root)
        guard problems.isEmpty else {
            throw SyncError(.invalidModel, "the schema file is not a valid model", problems: problems)
        }
    }

    private mutating func read(_ root: JSONValue) {
        guard let members = object(root, "$") else { return }
        for member in members where member.key != "entities" && member.key != "$schema" {
            problem("$.\(member.key)", "unknown key; a schema file has 'entities'")
        }
        guard let entities = root["entities"] else { return problem("$", "the key 'entities' is missing") }
        for member in object(entities, "entities") ?? [] {
            if let entity = entity(member.key, member.value, "entities.\(member.key)") { self.entities.append(entity) }
        }
    }

    // MARK: Parts

    private mutating func entity(_ name: String, _ value: JSONValue, _ path: String) -> Entity? {
        let keys = ["primaryKey", "attributes", "relationships", "parent", "abstract", "renamedFrom"]
        guard let fields = fields(value, path, keys) else { return nil }
        var entity = Entity(name)
        entity.primaryKey = string(fields["primaryKey"], "\(path).primaryKey")
        entity.parent = string(fields["parent"], "\(path).parent")
        entity.isAbstract = bool(fields["abstract"], "\(path).abstract") ?? false
        entity.renamedFrom = string(fields["renamedFrom"], "\(path).renamedFrom")
        for member in fields["attributes"].map({ object($0, "\(path).attributes") ?? [] }) ?? [] {
            let place = "\(path).attributes.\(member.key)"
            if let attribute = attribute(member.key, member.value, place) { entity.attributes.append(attribute) }
        }
        for member in fields["relationships"].map({ object($0, "\(path).relationships") ?? [] }) ?? [] {
            let place = "\(path).relationships.\(member.key)"
            if let relationship = relationship(member.key, member.value, place) {
                entity.relationships.append(relationship)
            }
        }
        return entity
    }

    private mutating func attribute(_ name: String, _ value: JSONValue, _ path: String) -> Attribute? {
        if case .string(let text) = value { return type(text, path).map { Attribute(name, $0) } }
        let keys = [
            "type", "remoteKey", "primaryKey", "optional", "default", "transformer", "export", "renamedFrom",
            "sourceType",
        ]
        guard case .object = value else {
            problem(path, "a type or an object is expected")
            return nil
        }
        guard let fields = fields(value, path, keys) else { return nil }
        guard let typeText = fields["type"] else {
            problem(path, "the key 'type' is missing")
            return nil
        }
        guard let text = string(typeText, "\(path).type"), let type = type(text, "\(path).type") else { return nil }
        var attribute = Attribute(name, type)
        attribute.remoteKey = string(fields["remoteKey"], "\(path).remoteKey")
        attribute.isPrimaryKey = bool(fields["primaryKey"], "\(path).primaryKey") ?? false
        attribute.isOptional = bool(fields["optional"], "\(path).optional") ?? true
        attribute.transformer = string(fields["transformer"], "\(path).transformer")
        attribute.isExportable = bool(fields["export"], "\(path).export") ?? true
        attribute.renamedFrom = string(fields["renamedFrom"], "\(path).renamedFrom")
        attribute.sourceType = string(fields["sourceType"], "\(path).sourceType")
        if let value = fields["default"], value != .null {
            attribute.defaultValue = Coercion.storedValue(value, as: type)
            if attribute.defaultValue == nil { problem("\(path).default", "the default does not fit the type '\(type)'") }
        }
        return attribute
    }

    private mutating func relationship(_ name: String, _ value: JSONValue, _ path: String) -> Relationship? {
        let keys = [
            "entity", "many", "ordered", "inverse", "deleteRule", "remoteKey", "export", "optional", "renamedFrom",
        ]
        guard let fields = fields(value, path, keys) else { return nil }
        guard let destination = fields["entity"] else {
            problem(path, "the key 'entity' is missing")
            return nil
        }
        var relationship = Relationship(name, to: string(destination, "\(path).entity") ?? "")
        relationship.isToMany = bool(fields["many"], "\(path).many") ?? false
        relationship.isOrdered = bool(fields["ordered"], "\(path).ordered") ?? false
        relationship.inverse = string(fields["inverse"], "\(path).inverse")
        relationship.remoteKey = string(fields["remoteKey"], "\(path).remoteKey")
        relationship.isExportable = bool(fields["export"], "\(path).export") ?? true
        relationship.isOptional = bool(fields["optional"], "\(path).optional") ?? true
        relationship.renamedFrom = string(fields["renamedFrom"], "\(path).renamedFrom")
        if let text = string(fields["deleteRule"], "\(path).deleteRule") {
            if let rule = DeleteRule(rawValue: text) {
                relationship.deleteRule = rule
            } else {
                problem("\(path).deleteRule", "unknown delete rule '\(text)'; there is \(Self.list(DeleteRule.allCases))")
            }
        }
        return relationship
    }

    private mutating func type(_ text: String, _ path: String) -> AttributeType? {
        let type = AttributeType(rawValue: text)
        if type == nil { problem(path, "unknown type '\(text)'; there is \(Self.list(AttributeType.allCases))") }
        return type
    }

    private static func list<T: RawRepresentable<String>>(_ cases: [T]) -> String {
        cases.map(\.rawValue).joined(separator: ", ")
    }

    // MARK: Values

    private mutating func problem(_ path: String, _ message: String) {
        problems.append(.init(path: path, message: message))
    }

    private mutating func object(_ value: JSONValue, _ path: String) -> [JSONValue.Member]? {
        guard case .object(let members) = value else {
            problem(path, "an object is expected")
            return nil
        }
        var seen: Set<String> = []
        for member in members where !seen.insert(member.key).inserted { problem("\(path).\(member.key)", "given twice") }
        return members
    }

    private mutating func fields(_ value: JSONValue, _ path: String, _ known: [String]) -> [String: JSONValue]? {
        guard let members = object(value, path) else { return nil }
        for member in members where !known.contains(member.key) {
            problem("\(path).\(member.key)", "unknown key; there is \(known.joined(separator: ", "))")
        }
        return Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }

    private mutating func string(_ value: JSONValue?, _ path: String) -> String? {
        guard let value else { return nil }
        if case .string(let text) = value { return text }
        problem(path, "a string is expected")
        return nil
    }

    private mutating func bool(_ value: JSONValue?, _ path: String) -> Bool? {
        guard let value else { return nil }
        if case .bool(let bool) = value { return bool }
        problem(path, "true or false is expected")
        return nil
    }
}
