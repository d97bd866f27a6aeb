import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the XML of a Core Data model into a model draft. Records each error in the draft, and continues reading.
struct CoreDataModel {
    var draft = ModelDraft()

    /// Reads the XML of a Core Data model.
    ///
    /// - Throws: ``SyncError`` `unreadableModel` if the data is not the XML of a Core Data model, with line and column
    ///   where they are known.
    static func draft(of data: Data) throws -> ModelDraft {
        let root = try CoreDataXML.root(of: data)
        guard root.name == "model" else {
            throw SyncError(
                .unreadableModel, "expected the element <model> of a Core Data model, found <\(root.name)>",
                line: root.line, column: 1)
        }
        var reader = CoreDataModel()
        let userInfo = CoreDataUserInfo(root)
        reader.draft.rules = KeyRules(keyCase: reader.keyCase(userInfo, at: .root), ignoredKeys: userInfo.ignore)
        for element in root.children(named: "entity") { reader.addEntity(element) }
        reader.addDiscriminators(root)
        return reader.draft
    }

    private mutating func addEntity(_ element: CoreDataElement) {
        guard let name = element.text("name") else { return reportUnnamed(element, in: .root["entities"]) }
        var entity = SyncModel.Entity(
            name, parent: element.text("parentEntity"), isAbstract: element.flag("isAbstract"),
            renamedFrom: element.formerName, keyCase: keyCase(CoreDataUserInfo(element), at: .entity(name)),
            ignoredKeys: CoreDataUserInfo(element).ignore, resourceType: CoreDataUserInfo(element).resourceType,
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
                isExported: userInfo.isExported, renamedFrom: element.formerName, sourceType: sourceType,
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
            draft.report(path["deleteRule"], "unknown delete rule '\(rule)' (line \(element.line))")
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
                remoteKey: userInfo.remoteKey, isExported: userInfo.isExported,
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
        // Core Data has no type for JSON. A Binary attribute, or one without a type, can therefore have any JSON value.
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

    /// Returns the name of the attribute's transformer; nil if there is none. Names of Foundation transformers are
    /// ignored, because these only tell how Core Data archives a value.
    private static func transformer(_ element: CoreDataElement) -> String? {
        element.text("valueTransformerName").flatMap { $0.hasPrefix("NS") ? nil : $0 }
    }

    /// Returns the default value; nil if there is none, or if it is not of the attribute's type. Reports a value of the
    /// wrong type. `defaultDateTimeInterval` is in seconds since 2001, and `defaultValueString` is text.
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

/// An XML element of a Core Data model, with its line number.
struct CoreDataElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [CoreDataElement] = []

    func children(named name: String) -> [CoreDataElement] { children.filter { $0.name == name } }

    /// Returns whether an XML attribute is `YES`. An absent attribute is false.
    func flag(_ name: String) -> Bool { attributes[name] == "YES" }

    /// Returns the text of an XML attribute; nil if it is absent or empty.
    func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The name in an earlier model. Xcode writes this renaming identifier as `elementID`.
    var formerName: String? { text("elementID") ?? text("renamingIdentifier") }
}

/// The settings for Sync in the user info of a model, an entity, an attribute or a relationship. Their keys begin with
/// `sync.`, or with `hyper.` in older models. If both exist, `sync.` applies.
struct CoreDataUserInfo {
    private var entries: [String: String] = [:]

    init(_ element: CoreDataElement) {
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            if let key = entry.attributes["key"] { entries[key] = entry.attributes["value"] ?? "" }
        }
    }

    private func value(_ name: String) -> String? { entries["sync.\(name)"] ?? entries["hyper.\(name)"] }
    private func text(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the elements of a comma-separated list.
    private func texts(_ name: String) -> [String] {
        let parts = (text(name) ?? "").split(separator: ",")
        return parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    var isPrimaryKey: Bool { ["YES", "true"].contains(value("isPrimaryKey")) }
    var remoteKey: String? { text("remoteKey") }
    /// The names of the transformers, from a comma-separated list.
    var transformers: [String] { texts("valueTransformer") }
    var format: AttributeFormat? { text("format").map { AttributeFormat($0) } }
    /// The spelling of JSON keys, as schema files name it: `kebab-case`.
    var keys: String? { text("keys") }
    var ignore: [String] { texts("ignore") }
    var resourceType: String? { text("type") }
    var table: String? { text("table") }
    var column: String? { text("column") }
    var inverseColumn: String? { text("inverseColumn") }
    /// The attribute read from the object keys of a keyed list. The value is the name of an attribute, or `YES` or
    /// `true` for the primary key.
    var keyedBy: KeyedBy? {
        text("keyedBy").map { ["YES", "true"].contains($0) ? .primaryKey : .attribute($0) }
    }
    /// The key of the discriminator.
    var discriminator: String? { text("discriminator") }
    var otherwise: String? { text("otherwise") }
    /// The discriminator values of this entity, from a comma-separated list.
    var kinds: [String] {
        texts("kind")
    }
    /// Whether exports include the member. An entry `nonExportable` with any value excludes it.
    var isExported: Bool { value("nonExportable") == nil }
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
                if let fallback = SyncModel.Discriminator.Fallback(rawValue: text) {
                    discriminator.fallback = fallback
                } else {
                    let known = SyncModel.Discriminator.Fallback.allCases.map(\.rawValue).joined(separator: ", ")
                    draft.report(
                        .entity(name)["discriminator"]["otherwise"],
                        "unknown value '\(text)' of 'otherwise'; use one of \(known) (line \(element.line))")
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

// MARK: - XML

/// A parser that converts the XML of a Core Data model to elements.
final class CoreDataXML: NSObject, XMLParserDelegate {
    /// The largest nesting depth of elements. Nested elements are freed recursively, so deeper nesting could overflow
    /// the stack. The XML of a model has five levels.
    private static let maximumDepth = 64
    private static let maximumDeclaration = 256

    private var open: [CoreDataElement] = []
    private var root: CoreDataElement?
    private var failure: SyncError?

    /// Parses XML and returns its root element.
    ///
    /// - Throws: ``SyncError`` `unreadableModel`, with line and column where they are known.
    static func root(of data: Data) throws -> CoreDataElement {
        try check(data)
        let parser = XMLParser(data: data)
        let document = CoreDataXML()
        parser.delegate = document
        parser.shouldResolveExternalEntities = false
        // Neither the result of parse() nor the parser's last error tells whether the document is well-formed.
        _ = parser.parse()
        if let failure = document.failure { throw failure }
        guard let root = document.root else { throw SyncError(.unreadableModel, "the file is empty") }
        return root
    }

    // MARK: Checks

    /// Checks that XML is UTF-8 and declares no document type.
    ///
    /// `XMLParser` ends the process at invalid UTF-8, and the entities of a document type can expand a document without
    /// limit. The check cannot find a document type in another encoding, so it rejects other encodings. It detects
    /// UTF-16 and UTF-32 by their zero bytes, and others by invalid UTF-8 or by the declared encoding.
    private static func check(_ data: Data) throws {
        guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
            throw SyncError(.unreadableModel, "the XML is not UTF-8")
        }
        try checkDeclaration(text)
        for declaration in ["<!DOCTYPE", "<!ENTITY"] {
            guard let place = data.range(of: Data(declaration.utf8))?.lowerBound else { continue }
            throw failure("the XML declares a document type; a Core Data model has none", after: data[..<place])
        }
    }

    /// Checks that an XML declaration has the usual form and declares no encoding other than UTF-8.
    private static func checkDeclaration(_ text: String) throws {
        let start = text.unicodeScalars.prefix(maximumDeclaration)
        let plain = String(String.UnicodeScalarView(start.first == "\u{FEFF}" ? start.dropFirst() : start))
        guard plain.hasPrefix("<?xml"), plain.dropFirst(5).first?.isWhitespace ?? true else { return }
        let declaration =
            #/<\?xml\s+version\s*=\s*(["'])1\.[0-9]\1(\s+encoding\s*=\s*(["'])([A-Za-z0-9._\-]*)\3)?(\s+standalone\s*=\s*(["'])(yes|no)\6)?\s*\?>/#
        guard let found = plain.prefixMatch(of: declaration) else {
            throw SyncError(.unreadableModel, "the XML declaration cannot be read", line: 1, column: 1)
        }
        guard found.4.map({ $0.lowercased() == "utf-8" }) ?? true else {
            throw SyncError(
                .unreadableModel, "the XML has the unsupported encoding \(found.4 ?? "")", line: 1,
                column: 1)
        }
    }

    private static func failure(_ message: String, after before: Data) -> SyncError {
        let lines = before.split(separator: .newline, omittingEmptySubsequences: false)
        return SyncError(.unreadableModel, message, line: lines.count, column: (lines.last?.count ?? 0) + 1)
    }

    // MARK: Events

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        guard open.count < Self.maximumDepth else {
            return fail(parser, "elements are nested more than \(Self.maximumDepth) levels deep")
        }
        open.append(CoreDataElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil, let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        fail(parser, "the file is not well-formed XML")
    }

    /// Records an error. Keeps only the first error, because the parser continues after an error and reports more.
    private func fail(_ parser: XMLParser, _ message: String) {
        guard failure == nil else { return }
        failure = SyncError(.unreadableModel, message, line: parser.lineNumber, column: parser.columnNumber)
        parser.abortParsing()
    }
}
