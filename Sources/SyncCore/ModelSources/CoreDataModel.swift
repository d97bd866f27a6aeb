import Foundation

/// Reads the XML of a Core Data model. Errors are recorded in the draft, and reading continues.
struct CoreDataModel {
    var draft = ModelDraft()

    /// Reads a draft of the model.
    ///
    /// - Throws: ``SyncError`` `unreadableModel` with line and column if the data is not such XML.
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
        guard let name = element.text("name") else { return reportUnnamed(element, in: .root["entities"]) }
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

    private mutating func reportUnnamed(_ element: CoreDataElement, in path: ModelPath) {
        draft.report(path, "<\(element.name)> has no name (line \(element.line))")
    }

    private mutating func keyCase(_ userInfo: CoreDataUserInfo, at path: ModelPath) -> KeyCase? {
        guard let word = userInfo.keys else { return nil }
        guard let found = KeyCase(word: word) else {
            draft.report(path["keys"], KeyCase.problem(with: word))
            return nil
        }
        return found
    }

    // MARK: Members

    private mutating func addAttribute(_ element: CoreDataElement, to entity: inout SyncModel.Entity) {
        guard let name = element.text("name") else {
            return reportUnnamed(element, in: .entity(entity.name)["attributes"])
        }
        let userInfo = CoreDataUserInfo(element)
        let sourceType = element.text("attributeType") ?? "Undefined"
        let type = Self.type(sourceType)
        if type == nil {
            let path = ModelPath.attribute(name, of: entity.name)["type"]
            draft.report(path, "unknown attribute type '\(sourceType)' (line \(element.line))")
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
            return reportUnnamed(element, in: .entity(entity.name)["relationships"])
        }
        let path = ModelPath.relationship(name, of: entity.name)
        let member = "\(entity.name).\(name)"
        let rule = element.text("deletionRule") ?? "Nullify"
        if Self.deleteRule(rule) == nil {
            draft.report(path["deleteRule"], "unknown deletion rule '\(rule)' (line \(element.line))")
            draft.unreadable.insert(member)
        }
        guard let destination = element.text("destinationEntity") else {
            draft.report(path["entity"], "the relationship has no destination (line \(element.line))")
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
        // In these models, Binary attributes and attributes without a type can have any JSON.
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

    /// Returns the transformer's name. Foundation's names state how Core Data archives a value, not how it is converted
    /// from JSON.
    private static func transformer(_ element: CoreDataElement) -> String? {
        element.text("valueTransformerName").flatMap { $0.hasPrefix("NS") ? nil : $0 }
    }

    /// Returns the default value. Dates are seconds since 2001, and all other values are text of the attribute's type.
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
            draft.report(path, "'\(text)' is not a value of type \(type.rawValue) (line \(element.line))")
            draft.unreadable.insert("\(entity).\(name)")
        }
        return value
    }
}

/// An XML element of a Core Data model, with its line.
struct CoreDataElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [CoreDataElement] = []

    func children(named name: String) -> [CoreDataElement] { children.filter { $0.name == name } }

    /// Returns a flag in the spelling of Core Data. An absent flag is false.
    func flag(_ name: String) -> Bool { attributes[name] == "YES" }

    /// Returns the text of an XML attribute; nil if it is absent or empty.
    func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The name in an earlier model, which is the renaming identifier. Xcode writes it as `elementID`.
    var formerName: String? { text("elementID") ?? text("renamingIdentifier") }
}

/// The mapping entries in the user info of a model, an entity, an attribute or a relationship. Their prefix is `sync.`,
/// or `hyper.` in older models. If both are present, `sync.` applies.
struct CoreDataUserInfo {
    private var entries: [String: String] = [:]

    init(_ element: CoreDataElement) {
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            if let key = entry.attributes["key"] { entries[key] = entry.attributes["value"] ?? "" }
        }
    }

    private func value(_ name: String) -> String? { entries["sync.\(name)"] ?? entries["hyper.\(name)"] }
    private func text(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the texts of a list with commas.
    private func texts(_ name: String) -> [String] {
        let parts = (text(name) ?? "").split(separator: ",")
        return parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    var isPrimaryKey: Bool { ["YES", "true"].contains(value("isPrimaryKey")) }
    var remoteKey: String? { text("remoteKey") }
    /// A chain of several transformers is a list with commas.
    var transformers: [String] { texts("valueTransformer") }
    var format: AttributeFormat? { text("format").map(AttributeFormat.init) }
    /// The key case, in the spelling of schema files.
    var keys: String? { text("keys") }
    var ignore: [String] { texts("ignore") }
    var resourceType: String? { text("type") }
    var table: String? { text("table") }
    var column: String? { text("column") }
    var inverseColumn: String? { text("inverseColumn") }
    /// The name of an attribute, or `YES` for the primary key.
    var keyedBy: KeyedBy? {
        text("keyedBy").map { ["YES", "true"].contains($0) ? .primaryKey : .attribute($0) }
    }
    /// The key of the discriminator.
    var discriminator: String? { text("discriminator") }
    var otherwise: String? { text("otherwise") }
    /// The values of the discriminator for an entity, as a list with commas.
    var kinds: [String] {
        texts("kind")
    }
    /// The presence of the entry excludes the member from exports, whatever its value is.
    var isExportable: Bool { value("nonExportable") == nil }
}

// MARK: - Discriminators

// In Core Data models, each entity declares its own discriminator values.
extension CoreDataModel {
    mutating func addDiscriminators(_ root: CoreDataElement) {
        var elements: [String: CoreDataElement] = [:]
        for element in root.children(named: "entity") {
            if let name = element.text("name") { elements[name] = element }
        }
        let parents = elements.compactMapValues { $0.text("parentEntity") }
        for index in draft.entities.indices {
            let name = draft.entities[index].name
            guard let element = elements[name] else { continue }
            let userInfo = CoreDataUserInfo(element)
            guard let key = userInfo.discriminator else { continue }
            var discriminator = SyncModel.Discriminator(key, kinds: [])
            if let text = userInfo.otherwise {
                if let otherwise = SyncModel.Discriminator.Fallback(rawValue: text) {
                    discriminator.otherwise = otherwise
                } else {
                    let known = SyncModel.Discriminator.Fallback.allCases.map(\.rawValue).joined(separator: ", ")
                    draft.report(
                        .entity(name)["discriminator"]["otherwise"],
                        "unknown otherwise '\(text)'; use one of \(known) (line \(element.line))")
                }
            }
            for entity in draft.entities where Self.isKind(entity.name, of: name, parents) {
                let kinds = elements[entity.name].map { CoreDataUserInfo($0).kinds } ?? []
                discriminator.kinds += kinds.map { .init($0, entity.name) }
            }
            draft.entities[index].discriminator = discriminator
        }
    }

    private static func isKind(_ entity: String, of ancestor: String, _ parents: [String: String]) -> Bool {
        var seen: Set<String> = []
        var next: String? = entity
        while let name = next, seen.insert(name).inserted {
            if name == ancestor { return true }
            next = parents[name]
        }
        return false
    }
}
