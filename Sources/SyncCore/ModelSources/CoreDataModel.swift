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
            draft.report(path, "'\(text)' is not a value of the type \(type.rawValue) (line \(element.line))")
            draft.unreadable.insert("\(entity).\(name)")
        }
        return value
    }
}

/// An element of the XML of a Core Data model, with its place.
struct CoreDataElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [CoreDataElement] = []

    func children(named name: String) -> [CoreDataElement] { children.filter { $0.name == name } }

    /// A flag as Core Data writes it; absent is false.
    func flag(_ name: String) -> Bool { attributes[name] == "YES" }

    /// An attribute's text, if there is any.
    func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The name in an earlier model: the renaming identifier, which Xcode writes as `elementID`.
    var formerName: String? { text("elementID") ?? text("renamingIdentifier") }
}

/// What the user info of a model, an entity, an attribute or a relationship says about mapping, under the prefix `sync.` or the older
/// `hyper.`. The newer spelling counts if both are there.
struct CoreDataUserInfo {
    private var entries: [String: String] = [:]

    init(_ element: CoreDataElement) {
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            if let key = entry.attributes["key"] { entries[key] = entry.attributes["value"] ?? "" }
        }
    }

    private func value(_ name: String) -> String? { entries["sync.\(name)"] ?? entries["hyper.\(name)"] }
    private func text(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// What stands between commas.
    private func texts(_ name: String) -> [String] {
        let parts = (text(name) ?? "").split(separator: ",")
        return parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    var isPrimaryKey: Bool { ["YES", "true"].contains(value("isPrimaryKey")) }
    var remoteKey: String? { text("remoteKey") }
    /// Several in a chain stand between commas.
    var transformers: [String] { texts("valueTransformer") }
    var format: AttributeFormat? { text("format").map(AttributeFormat.init) }
    /// As a schema file spells it.
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
    /// The key of the member that tells the kinds of an entity apart.
    var discriminator: String? { text("discriminator") }
    var otherwise: String? { text("otherwise") }
    /// What that member says of an entity; several with commas between them.
    var kinds: [String] {
        texts("kind")
    }
    /// Whatever the entry's value is, its presence excludes from exports.
    var isExportable: Bool { value("nonExportable") == nil }
}

// MARK: - Kinds

// The kinds of an entity: in Core Data each of the entities says what it is called.
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
                        "unknown otherwise '\(text)'; known are \(known) (line \(element.line))")
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
