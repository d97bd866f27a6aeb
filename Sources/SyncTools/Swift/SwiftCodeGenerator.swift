import Foundation
package import SyncCore
import SyncStore

/// The source code of Swift types for a model, which `syncdb schema swift` writes.
///
/// ```swift
/// let source = SwiftCodeGenerator(model, form: .macros, namespace: "Blog")
/// print(source.text)
/// ```
package struct SwiftCodeGenerator: Sendable, Hashable {
    /// The library that the generated types use: Sync or GRDB.
    package enum Form: String, Sendable, Hashable, CaseIterable {
        /// Types with `@Entity`, and a function that creates the model from them. ``SwiftCodeGenerator/notes`` lists
        /// the parts of the model that these types cannot express.
        case macros
        /// GRDB records that are `Codable` and do not need Sync. They read and write the tables of a store.
        case records
    }

    /// The generated source code.
    package let text: String
    /// Notes about renamed members and about parts of the model that the types cannot express; empty for
    /// ``Form/records``.
    package let notes: [String]

    /// Generates the types of a model.
    ///
    /// - Parameter namespace: The name of the enumeration around the types; nil for none.
    package init(_ model: SyncModel, form: Form = .macros, namespace: String? = nil) {
        var writer = SwiftWriter(model, form)
        text = writer.source(in: namespace)
        notes = writer.notes
    }
}

/// Conversions of the names of a model to Swift names.
enum SwiftName {
    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Names of types that the generated source or `@Entity` uses, and names with a special meaning in Swift.
    private static let reservedTypes: Set<String> = [
        "Bool", "Columns", "Data", "Date", "Decimal", "Double", "Entity", "EntityRecord", "Int", "JSONValue",
        "Protocol",
        "RelatedRows", "RowNumber", "String", "SyncModel", "Type", "URL", "UUID",
    ]

    /// Members that `@Entity` adds to a type, and names with a special meaning in Swift.
    private static let reservedMembers: Set<String> = [
        "databaseTableName", "entityName", "self", "syncEntity", "syncID", "syncKey", "syncProperties",
    ]

    /// Returns the name of a property for a member of the model: the same name, unless the name is reserved.
    static func member(_ name: String) -> String { reservedMembers.contains(name) ? name + "Value" : name }

    /// Returns a property name, in backticks if needed.
    static func property(_ name: String) -> String {
        isPlain(name) && !keywords.contains(name) ? name : "`\(name)`"
    }

    /// Returns the name of the type for an entity: the same name, or a similar valid name.
    static func type(_ name: String) -> String {
        var plain = String(name.filter { $0.isLetter || $0.isNumber || $0 == "_" })
        if plain.first?.isNumber ?? true { plain = "Entity" + plain }
        plain = plain.prefix(1).uppercased() + plain.dropFirst()
        return reservedTypes.contains(plain) || keywords.contains(plain) ? plain + "Row" : plain
    }

    static func literal(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\"\(escaped)\""
    }

    private static func isPlain(_ name: String) -> Bool {
        let isLetter = name.first.map { $0.isLetter || $0 == "_" } ?? false
        return isLetter && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}

/// A writer of Swift types for a model.
struct SwiftWriter {
    private let model: SyncModel
    private let form: SwiftCodeGenerator.Form
    private(set) var notes: [String] = []

    init(_ model: SyncModel, _ form: SwiftCodeGenerator.Form) {
        self.model = model
        self.form = form
    }

    mutating func source(in namespace: String?) -> String {
        var blocks = model.entities.map { form == .macros ? entity($0) : record($0) }
        if form == .macros { blocks.append(modelFunction(isInside: namespace != nil)) }
        var body = blocks.joined(separator: "\n\n")
        if let namespace {
            let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
            body =
                "enum \(SwiftName.type(namespace)) {\n"
                + lines.map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n") + "\n}"
        }
        let imports = form == .macros ? "import Foundation\nimport Sync" : "import Foundation\nimport GRDB"
        return "// Written by 'syncdb schema swift'.\n\n\(imports)\n\n\(body)\n"
    }

    private func modelFunction(isInside: Bool) -> String {
        var arguments = model.entities.map { "\(SwiftName.type($0.name)).self" }
        if let keyCase = model.keyCase { arguments.append("keyCase: .\(keyCase.rawValue)") }
        if !model.ignoredKeys.isEmpty { arguments.append("ignoredKeys: \(list(model.ignoredKeys))") }
        let call = "try SyncModel(\n    \(arguments.joined(separator: ",\n    ")))"
        return """
            /// The model of these types.
            \(isInside ? "static " : "")func syncModel() throws -> SyncModel {
                \(call.replacingNewlines(with: "\n    "))
            }
            """
    }

    // MARK: Types with macros

    private mutating func entity(_ entity: SyncModel.Entity) -> String {
        let type = SwiftName.type(entity.name)
        let arguments = arguments(of: entity, type)
        var lines = ["@Entity\(arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")", "struct \(type) {"]
        lines += members(of: entity).map { "    \($0)" }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private func arguments(of entity: SyncModel.Entity, _ type: String) -> [String] {
        var arguments: [String] = []
        if type != entity.name { arguments.append(SwiftName.literal(entity.name)) }
        if let parent = entity.parent { arguments.append("parent: \(SwiftName.type(parent)).self") }
        if entity.isAbstract { arguments.append("isAbstract: true") }
        if !hasKey(entity) { arguments.append("isKeyless: true") }
        if let key = entity.primaryKey {
            let names = key.parts.map(SwiftName.member)
            let parts = names.count == 1 ? SwiftName.literal(names[0]) : list(names)
            arguments.append("primaryKey: \(parts)")
        }
        if let old = entity.renamedFrom { arguments.append("renamedFrom: \(SwiftName.literal(old))") }
        if let keyCase = entity.keyCase { arguments.append("keyCase: .\(keyCase.rawValue)") }
        if !entity.ignoredKeys.isEmpty { arguments.append("ignoredKeys: \(list(entity.ignoredKeys))") }
        if let name = entity.resourceType { arguments.append("resourceType: \(SwiftName.literal(name))") }
        if let found = entity.discriminator {
            let kinds = found.kinds.map { "\(SwiftName.literal($0.value)): \(SwiftName.literal($0.entity))" }
            let fallback = found.fallback == .skip ? "" : ", fallback: .\(found.fallback.rawValue)"
            arguments.append(
                "discriminator: .init(\(SwiftName.literal(found.key)), "
                    + "values: [\(kinds.joined(separator: ", "))]\(fallback))")
        }
        if let table = entity.table { arguments.append("table: \(SwiftName.literal(table))") }
        return arguments
    }

    /// Returns the members of the entity and of its ancestors, because a struct inherits no members.
    private mutating func members(of entity: SyncModel.Entity) -> [String] {
        let lineage = lineage(of: entity)
        var lines: [String] = []
        for ancestor in lineage { lines += ancestor.attributes.map { property($0, of: entity) } }
        for ancestor in lineage { lines += ancestor.relationships.map { relationship($0, of: entity) } }
        return lines
    }

    private func lineage(of entity: SyncModel.Entity) -> [SyncModel.Entity] {
        var lineage = [entity]
        while let parent = lineage[0].parent.flatMap({ model.entity(named: $0) }) { lineage.insert(parent, at: 0) }
        return lineage
    }

    private func hasKey(_ entity: SyncModel.Entity) -> Bool {
        model.compiled.entityID(entity.name).map { model.compiled.entities[$0].keyOwner != nil } ?? false
    }

    private mutating func property(_ attribute: SyncModel.Attribute, of entity: SyncModel.Entity) -> String {
        var marks: [String] = []
        if attribute.isPrimaryKey { marks.append("@PrimaryKey") }
        let name = SwiftName.member(attribute.name)
        let isRenamed = name != attribute.name
        if isRenamed { addRenamedNote(attribute.name, of: entity) }
        let known = isRenamed ? try? model.remoteKey(forAttribute: attribute.name, of: entity.name) : nil
        if let key = attribute.remoteKey ?? known { marks.append("@RemoteKey(\(SwiftName.literal(key)))") }
        if !attribute.isExported { marks.append("@NotExported") }
        if !attribute.transformers.isEmpty {
            let names = attribute.transformers.map(SwiftName.literal)
            marks.append("@Transformer(\(names.joined(separator: ", ")))")
        }
        if let format = attribute.format { marks.append("@Format(\(SwiftName.literal(format.text)))") }
        if let old = attribute.renamedFrom { marks.append("@RenamedFrom(\(SwiftName.literal(old)))") }
        if let column = attribute.column ?? (isRenamed ? attribute.name : nil) {
            marks.append("@Column(\(SwiftName.literal(column)))")
        }
        if attribute.type == .transformable { marks.append("@Stored(as: .transformable)") }
        let isKey = isKey(attribute, of: entity)
        if isKey, !attribute.isOptional {
            notes.append(
                "\(entity.name).\(attribute.name): the Swift code does not express that the key must not be nil")
        }
        if let source = attribute.sourceType {
            notes.append(
                "\(entity.name).\(attribute.name): the Swift code does not include the source type '\(source)'")
        }
        let isOptional = attribute.isOptional && !isKey
        var line = "var \(SwiftName.property(name)): \(swiftType(attribute.type))\(isOptional ? "?" : "")"
        if let value = attribute.defaultValue { line += " = \(self.value(value, isOptional: isOptional))" }
        return (marks + [line]).joined(separator: " ")
    }

    private func isKey(_ attribute: SyncModel.Attribute, of entity: SyncModel.Entity) -> Bool {
        guard let id = model.compiled.entityID(entity.name) else { return false }
        let compiled = model.compiled.entities[id]
        return compiled.keySlots.contains { model.compiled[compiled.table].attributes[$0].name == attribute.name }
    }

    private mutating func addRenamedNote(_ name: String, of entity: SyncModel.Entity) {
        notes.append(
            "\(entity.name).\(name): is renamed to '\(SwiftName.member(name))', because Swift or '@Entity' reserves its name"
        )
    }

    private mutating func relationship(_ relationship: SyncModel.Relationship, of entity: SyncModel.Entity) -> String {
        let name = SwiftName.member(relationship.name)
        let isRenamed = name != relationship.name
        if isRenamed { addRenamedNote(relationship.name, of: entity) }
        var said: [String] = []
        if let inverse = relationship.inverse {
            said.append("inverse: \(SwiftName.literal(SwiftName.member(inverse)))")
        }
        if relationship.deleteRule != .nullify { said.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        if relationship.isOrdered { said.append("ordered: true") }
        if !relationship.isOptional { said.append("optional: false") }
        let places = [
            ("table", relationship.table),
            ("column", relationship.column ?? (isRenamed && !relationship.isToMany ? "\(relationship.name)ID" : nil)),
            ("inverseColumn", relationship.inverseColumn),
        ]
        switch relationship.keyedBy {
        case .primaryKey?: said.append("keyedBy: .primaryKey")
        case .attribute(let key)?: said.append("keyedBy: .attribute(\(SwiftName.literal(SwiftName.member(key))))")
        case nil: break
        }
        for case (let label, let name?) in places { said.append("\(label): \(SwiftName.literal(name))") }
        var marks = ["@Relationship\(said.isEmpty ? "" : "(\(said.joined(separator: ", ")))")"]
        if let key = relationship.remoteKey ?? (isRenamed ? relationship.name : nil) {
            marks.append("@RemoteKey(\(SwiftName.literal(key)))")
        }
        if !relationship.isExported { marks.append("@NotExported") }
        if let old = relationship.renamedFrom { marks.append("@RenamedFrom(\(SwiftName.literal(old)))") }
        let type = SwiftName.type(relationship.destination)
        let line = "var \(SwiftName.property(name)): \(relationship.isToMany ? "[\(type)]" : "\(type)?")"
        return (marks + [line]).joined(separator: " ")
    }

    // MARK: Values

    private func swiftType(_ type: AttributeType) -> String {
        switch type {
        case .integer: "Int"
        case .double: "Double"
        case .decimal: "Decimal"
        case .boolean: "Bool"
        case .string: "String"
        case .date: "Date"
        case .uuid: "UUID"
        case .url: "URL"
        case .binary: "Data"
        case .json, .transformable: "JSONValue"
        }
    }

    private func value(_ value: StoredValue, isOptional: Bool) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : number > 0 ? "Double.infinity" : "-Double.infinity"
        case .boolean(let flag): "\(flag)"
        case .string(let text): SwiftName.literal(text)
        case .date(let date): "Date(timeIntervalSince1970: \(date.timeIntervalSince1970))"
        case .decimal(let number): checked("Decimal(string: \"\(number)\")", isOptional, else: "0")
        case .uuid(let uuid): checked("UUID(uuidString: \"\(uuid.uuidString)\")", isOptional, else: "UUID()")
        case .url(let text):
            checked("URL(string: \(SwiftName.literal(text)))", isOptional, else: "URL(fileURLWithPath: \"\")")
        case .binary(let data):
            checked("Data(base64Encoded: \"\(data.base64EncodedString())\")", isOptional, else: "Data()")
        case .json(let json):
            checked(
                "(try? JSONValue(parsing: \(SwiftName.literal(String(decoding: JSONText.bytes(of: json), as: UTF8.self)))))",
                isOptional, else: ".null")
        }
    }

    private func checked(_ value: String, _ isOptional: Bool, else other: String) -> String {
        isOptional ? value : "\(value) ?? \(other)"
    }

    private func list(_ texts: [String]) -> String { "[\(texts.map(SwiftName.literal).joined(separator: ", "))]" }

    // MARK: Records without macros

    private mutating func record(_ entity: SyncModel.Entity) -> String {
        let type = SwiftName.type(entity.name)
        let (tableName, columns) = table(of: entity)
        var lines = [
            "/// The stored rows of \(entity.name).",
            "struct \(type): Codable, Hashable, Sendable, FetchableRecord, PersistableRecord {",
        ]
        lines += columns.map { "    var \(SwiftName.property($0.name)): \($0.type)" }
        lines += ["", "    static let databaseTableName = \(SwiftName.literal(tableName))"]
        if columns.contains(where: { $0.type.hasPrefix("UUID") }) {
            lines += [
                "",
                "    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {",
                "        .uppercaseString", "    }",
            ]
        }
        lines += ["", "    enum Columns {"]
        lines += columns.map {
            "        static let \(SwiftName.property($0.name)) = Column(\(SwiftName.literal($0.name)))"
        }
        return (lines + ["    }", "}"]).joined(separator: "\n")
    }

    /// Returns the table and its columns, with types for which GRDB reads and writes the same values as the store.
    /// Attributes with decimals or JSON are text.
    private func table(of entity: SyncModel.Entity) -> (name: String, columns: [(name: String, type: String)]) {
        guard let id = model.compiled.entityID(entity.name) else { return (entity.name, []) }
        let (compiled, layout) = (model.compiled.entities[id], StoreLayout(model.compiled))
        let table = layout[compiled.table]
        var columns = compiled.slots.map { slot -> (name: String, type: String) in
            let attribute = model.compiled[compiled.table].attributes[slot]
            let type: String
            switch attribute.type {
            case .decimal, .json, .transformable: type = "String"
            default: type = swiftType(attribute.type)
            }
            let isOptional = attribute.isOptional && !compiled.keySlots.contains(slot)
            return (table.columns[slot], type + (isOptional ? "?" : ""))
        }
        for relationship in compiled.relationships where relationship.end == .first {
            guard case .foreignKey(_, let column, _) = layout[relationship.link] else { continue }
            columns.append((column, keyType(of: model.compiled.entities[relationship.destination].table) + "?"))
        }
        if table.hasEntityColumn { columns.append((TableLayout.entityColumn, "String")) }
        return (table.name, columns)
    }

    /// Returns the type of the foreign keys to a table. It is an integer if the table has a surrogate key.
    private func keyType(of table: TableID) -> String {
        let hierarchy = model.compiled[table]
        return hierarchy.keySlot.map { swiftType(hierarchy.attributes[$0].type) } ?? "Int64"
    }
}

extension String {
    fileprivate func replacingNewlines(with text: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).joined(separator: text)
    }
}
