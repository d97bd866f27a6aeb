import Foundation

/// Reads the XML of a Core Data model. What cannot be read is noted, and the rest read on.
struct CoreDataModel {
    var draft = ModelDraft()

    /// - Throws: ``SyncError`` `unreadableModel` with line and column if the data is not such XML at all.
    static func draft(of data: Data) throws -> ModelDraft {
        let root = try CoreDataXML.root(of: data)
        guard root.name == "model" else {
            throw SyncError(
                .unreadableModel, "expected the element <model> of a Core Data model, found <\(root.name)>",
                line: root.line, column: 1)
        }
        var reader = CoreDataModel()
        let userInfo = CoreDataUserInfo(root)
        reader.draft.rules = KeyRules(keys: reader.keyCase(userInfo, at: .root), ignore: userInfo.ignore)
        for element in root.children(named: "entity") { reader.addEntity(element) }
        reader.addDiscriminators(root)
        return reader.draft
    }

    private mutating func addEntity(_ element: CoreDataElement) {
        guard let name = element.text("name") else { return noteUnnamed(element, in: .root["entities"]) }
        var entity = SyncModel.Entity(
            name, parent: element.text("parentEntity"), isAbstract: element.flag("isAbstract"),
            renamedFrom: element.formerName, keys: keyCase(CoreDataUserInfo(element), at: .entity(name)),
            ignore: CoreDataUserInfo(element).ignore, resourceType: CoreDataUserInfo(element).resourceType,
            table: CoreDataUserInfo(element).table)
        for child in element.children {
            switch child.name {
            case "attribute": addAttribute(child, to: &entity)
            case "relationship": addRelationship(child, to: &entity)
            default: break
            }
        }
        draft.entities.append(entity)
    }

    private mutating func noteUnnamed(_ element: CoreDataElement, in path: ModelPath) {
        draft.note(path, "<\(element.name)> has no name (line \(element.line))")
    }

    private mutating func keyCase(_ userInfo: CoreDataUserInfo, at path: ModelPath) -> KeyCase? {
        guard let word = userInfo.keys else { return nil }
        guard let found = KeyCase(word: word) else {
            draft.note(path["keys"], KeyCase.problem(with: word))
            return nil
        }
        return found
    }

    // MARK: Members

    private mutating func addAttribute(_ element: CoreDataElement, to entity: inout SyncModel.Entity) {
        guard let name = element.text("name") else {
            return noteUnnamed(element, in: .entity(entity.name)["attributes"])
        }
        let userInfo = CoreDataUserInfo(element)
        let sourceType = element.text("attributeType") ?? "Undefined"
        let type = Self.type(sourceType)
        if type == nil {
            let path = ModelPath.attribute(name, of: entity.name)["type"]
            draft.note(path, "unknown attribute type '\(sourceType)' (line \(element.line))")
            draft.unreadable.insert("\(entity.name).\(name)")
        }
        entity.attributes.append(
            SyncModel.Attribute(
                name, type ?? .string, remoteKey: userInfo.remoteKey, isPrimaryKey: userInfo.isPrimaryKey,
                isOptional: element.flag("optional"),
                defaultValue: type.flatMap { defaultValue(element, $0, of: entity.name, name) },
                isExportable: userInfo.isExportable, renamedFrom: element.formerName, sourceType: sourceType,
                transformers: userInfo.transformers.isEmpty
                    ? Self.transformer(element).map { [$0] } ?? [] : userInfo.transformers,
                format: userInfo.format, column: userInfo.column))
    }

    private mutating func addRelationship(_ element: CoreDataElement, to entity: inout SyncModel.Entity) {
        guard let name = element.text("name") else {
            return noteUnnamed(element, in: .entity(entity.name)["relationships"])
        }
        let path = ModelPath.relationship(name, of: entity.name)
        let member = "\(entity.name).\(name)"
        let rule = element.text("deletionRule") ?? "Nullify"
        if Self.deleteRule(rule) == nil {
            draft.note(path["deleteRule"], "unknown deletion rule '\(rule)' (line \(element.line))")
            draft.unreadable.insert(member)
        }
        guard let destination = element.text("destinationEntity") else {
            draft.note(path["entity"], "the relationship has no destination (line \(element.line))")
            draft.unreadable.insert(member)
            return
        }
        let userInfo = CoreDataUserInfo(element)
        let isToMany = element.flag("toMany")
        entity.relationships.append(
            SyncModel.Relationship(
                name, to: destination, many: isToMany, ordered: isToMany && element.flag("ordered"),
                inverse: element.text("inverseName"), deleteRule: Self.deleteRule(rule) ?? .nullify,
                remoteKey: userInfo.remoteKey, isExportable: userInfo.isExportable,
                isOptional: element.flag("optional"), renamedFrom: element.formerName, keyedBy: userInfo.keyedBy,
                table: userInfo.table, column: userInfo.column, inverseColumn: userInfo.inverseColumn))
    }

    // MARK: Values

    private static func type(_ name: String) -> AttributeType? {
        switch name {
        case "Integer 16", "Integer 32", "Integer 64": .integer
        case "Double", "Float": .double
        case "Decimal": .decimal
        case "Boolean": .boolean
        case "String": .string
        case "Date": .date
        case "UUID": .uuid
        case "URI": .url
        // In the models this reads, Binary holds any JSON, and so can an attribute without type.
        case "Binary", "Undefined": .json
        case "Transformable": .transformable
        default: nil
        }
    }

    private static func deleteRule(_ name: String) -> SyncModel.DeleteRule? {
        switch name {
        case "Nullify": .nullify
        case "Cascade": .cascade
        case "Deny": .deny
        case "No Action": .noAction
        default: nil
        }
    }

    /// The names that Foundation itself registers say how Core Data archives a value, not what it is made from.
    private static func transformer(_ element: CoreDataElement) -> String? {
        element.text("valueTransformerName").flatMap { $0.hasPrefix("NS") ? nil : $0 }
    }

    /// Dates are seconds since 2001; everything else is text of the attribute's type.
    private mutating func defaultValue(
        _ element: CoreDataElement, _ type: AttributeType, of entity: String, _ name: String
    ) -> StoredValue? {
        let text: String?
        var value: StoredValue?
        if type == .date, let interval = element.text("defaultDateTimeInterval") {
            text = interval
            value = Double(interval).flatMap { Date(timeIntervalSinceReferenceDate: $0).milliseconds }
                .map { .date(Date(milliseconds: $0)) }
        } else {
            text = type == .string ? element.attributes["defaultValueString"] : element.text("defaultValueString")
            value = text.flatMap { Coercion.storedValue(.string($0), as: type) }
        }
        if value == nil, let text {
            let path = ModelPath.attribute(name, of: entity)["default"]
            draft.note(path, "'\(text)' is not a value of the type \(type.rawValue) (line \(element.line))")
            draft.unreadable.insert("\(entity).\(name)")
        }
        return value
    }
}
