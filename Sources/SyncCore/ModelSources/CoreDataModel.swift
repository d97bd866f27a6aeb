import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the XML of a Core Data model into entities.
final class CoreDataModel: NSObject, XMLParserDelegate {
    private enum Owner { case entity, attribute, relationship, other }

    private(set) var entities: [Entity] = []
    private var owners: [Owner] = []
    private var sawModel = false
    private var problems: [SyncError.Problem] = []

    /// - Throws: ``SyncError`` `unreadableModel` with line and column, or `invalidModel` with every problem.
    static func entities(in data: Data) throws -> [Entity] {
        let reader = CoreDataModel()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        guard parser.parse() else {
            throw SyncError(
                .unreadableModel, "the Core Data model is not well-formed XML", line: max(parser.lineNumber, 1),
                column: max(parser.columnNumber, 1), underlying: parser.parserError?.localizedDescription)
        }
        guard reader.sawModel else {
            throw SyncError(.unreadableModel, "the XML is not a Core Data model: a <model> element is expected")
        }
        guard reader.problems.isEmpty else {
            throw SyncError(.invalidModel, "the Core Data model is not valid", problems: reader.problems)
        }
        return reader.entities
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes fields: [String: String] = [:]
    ) {
        switch name {
        case "model":
            sawModel = true
            owners.append(.other)
        case "entity":
            entities.append(entity(fields))
            owners.append(.entity)
        case "attribute" where owners.last == .entity:
            let attribute = attribute(fields)
            update { $0.attributes.append(attribute) }
            owners.append(.attribute)
        case "relationship" where owners.last == .entity:
            let relationship = relationship(fields)
            update { $0.relationships.append(relationship) }
            owners.append(.relationship)
        case "userInfo": owners.append(owners.last ?? .other)
        case "entry":
            userInfo(fields["key"] ?? "", fields["value"] ?? "")
            owners.append(.other)
        default: owners.append(.other)
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        owners.removeLast()
    }

    private func update(_ change: (inout Entity) -> Void) {
        guard !entities.isEmpty else { return }
        change(&entities[entities.count - 1])
    }

    // MARK: Elements

    private func entity(_ fields: [String: String]) -> Entity {
        Entity(
            fields["name"] ?? "", parent: fields["parentEntity"], isAbstract: fields["isAbstract"] == "YES",
            renamedFrom: fields["elementID"])
    }

    private func attribute(_ fields: [String: String]) -> Attribute {
        let name = fields["name"] ?? ""
        let source = fields["attributeType"] ?? "Undefined"
        let path = "entity \(entities.last?.name ?? "").attribute \(name)"
        let type = Self.types[source]
        if type == nil { problems.append(.init(path: path, message: "unknown attributeType '\(source)'")) }
        var attribute = Attribute(
            name, type ?? .json, isOptional: fields["optional"] == "YES", transformer: fields["valueTransformerName"],
            renamedFrom: fields["elementID"], sourceType: source)
        attribute.defaultValue = defaultValue(fields, attribute.type, path)
        return attribute
    }

    private static let types: [String: AttributeType] = [
        "Integer 16": .integer, "Integer 32": .integer, "Integer 64": .integer, "Decimal": .decimal,
        "Double": .double, "Float": .double, "String": .string, "Boolean": .boolean, "Date": .date,
        "Binary": .json, "UUID": .uuid, "URI": .url, "Transformable": .transformable, "Undefined": .json,
    ]

    /// Dates count from 2001-01-01 there.
    private func defaultValue(_ fields: [String: String], _ type: AttributeType, _ path: String) -> StoredValue? {
        if type == .date, let text = fields["defaultDateTimeInterval"] {
            guard let seconds = Double(text) else {
                problems.append(.init(path: path, message: "the default date '\(text)' is not a number of seconds"))
                return nil
            }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
        guard let text = fields["defaultValueString"], type != .json, type != .transformable else { return nil }
        let value = Coercion.storedValue(.string(text), as: type)
        if value == nil { problems.append(.init(path: path, message: "the default does not fit the type")) }
        return value
    }

    private func relationship(_ fields: [String: String]) -> Relationship {
        let rules: [String: DeleteRule] = [
            "Cascade": .cascade, "Deny": .deny, "No Action": .noAction, "Nullify": .nullify,
        ]
        return Relationship(
            fields["name"] ?? "", to: fields["destinationEntity"] ?? "", many: fields["toMany"] == "YES",
            ordered: fields["ordered"] == "YES", inverse: fields["inverseName"],
            deleteRule: rules[fields["deletionRule"] ?? ""] ?? .nullify, isOptional: fields["optional"] == "YES",
            renamedFrom: fields["elementID"])
    }

    // MARK: User info

    /// The `sync.` keys, and the `hyper.` ones of older models.
    private func userInfo(_ key: String, _ value: String) {
        guard let dot = key.firstIndex(of: "."), ["sync", "hyper"].contains(key[..<dot]) else { return }
        switch (String(key[key.index(after: dot)...]), owners.last) {
        case ("isPrimaryKey", .attribute) where value == "YES" || value == "true": updateAttribute { $0.isPrimaryKey = true }
        case ("remoteKey", .attribute): updateAttribute { $0.remoteKey = value }
        case ("remoteKey", .relationship): updateRelationship { $0.remoteKey = value }
        case ("nonExportable", .attribute): updateAttribute { $0.isExportable = false }
        case ("nonExportable", .relationship): updateRelationship { $0.isExportable = false }
        case ("valueTransformer", .attribute): updateAttribute { $0.transformer = value }
        default: break
        }
    }

    private func updateAttribute(_ change: (inout Attribute) -> Void) {
        update { if !$0.attributes.isEmpty { change(&$0.attributes[$0.attributes.count - 1]) } }
    }

    private func updateRelationship(_ change: (inout Relationship) -> Void) {
        update { if !$0.relationships.isEmpty { change(&$0.relationships[$0.relationships.count - 1]) } }
    }
}
