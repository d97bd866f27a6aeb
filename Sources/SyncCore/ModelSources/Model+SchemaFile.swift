public import Foundation

extension Model {
    /// Reads a schema file.
    ///
    /// - Throws: ``SyncError`` `malformedJSON` with line and column, or `invalidModel` with every problem and its path.
    public init(schema: Data) throws {
        try self.init(entities: SchemaFile(schema).entities)
    }

    /// The model as a schema file: pretty, in a fixed order, with only what differs from the defaults.
    public func schemaFile() -> Data {
        let entities = JSONValue.object(self.entities.map { .init($0.name, $0.schema) })
        return Data((["entities": entities] as JSONValue).prettyText().utf8)
    }
}

extension Entity {
    fileprivate var schema: JSONValue {
        var members: [JSONValue.Member] = []
        members.add("parent", parent.map(JSONValue.string))
        members.add("abstract", isAbstract ? true : nil)
        members.add("renamedFrom", renamedFrom.map(JSONValue.string))
        members.add("primaryKey", primaryKey.map(JSONValue.string))
        members.add("attributes", .object(attributes.map { .init($0.name, $0.schema) }))
        if !relationships.isEmpty {
            members.add("relationships", .object(relationships.map { .init($0.name, $0.schema) }))
        }
        return .object(members)
    }
}

extension Attribute {
    fileprivate var schema: JSONValue {
        var members: [JSONValue.Member] = []
        members.add("type", .string(type.rawValue))
        members.add("remoteKey", remoteKey.map(JSONValue.string))
        members.add("primaryKey", isPrimaryKey ? true : nil)
        members.add("optional", isOptional ? nil : false)
        members.add("default", defaultValue?.jsonForm)
        members.add("transformer", transformer.map(JSONValue.string))
        members.add("export", isExportable ? nil : false)
        members.add("renamedFrom", renamedFrom.map(JSONValue.string))
        members.add("sourceType", sourceType.map(JSONValue.string))
        return members.count == 1 ? .string(type.rawValue) : .object(members)
    }
}

extension Relationship {
    fileprivate var schema: JSONValue {
        var members: [JSONValue.Member] = []
        members.add("entity", .string(destination))
        members.add("many", isToMany ? true : nil)
        members.add("ordered", isOrdered ? true : nil)
        members.add("inverse", inverse.map(JSONValue.string))
        members.add("deleteRule", deleteRule == .nullify ? nil : .string(deleteRule.rawValue))
        members.add("remoteKey", remoteKey.map(JSONValue.string))
        members.add("export", isExportable ? nil : false)
        members.add("optional", isOptional ? nil : false)
        members.add("renamedFrom", renamedFrom.map(JSONValue.string))
        return .object(members)
    }
}

extension [JSONValue.Member] {
    fileprivate mutating func add(_ key: String, _ value: JSONValue?) {
        if let value { append(.init(key, value)) }
    }
}
