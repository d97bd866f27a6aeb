#if Macros
    import SwiftSyntax

    /// The code that `@Entity` adds. What names other types is in the type itself, where they are seen as its own lines see
    /// them; initialisers are in the extension, so that the type keeps that of its members.
    struct EntityCode {
        private let entity: EntityDeclaration
        private var type: String { entity.declaration.name.text }

        init(_ entity: EntityDeclaration) { self.entity = entity }

        /// The members that are added to the type.
        var members: [String] {
            let access = entity.access
            let members = [
                "\(access)static var entityName: String { \(entity.entityName) }",
                "\(access)static var syncEntity: SyncModel.Entity {\n\(model)\n}",
                "\(access)static var syncProperties: [PartialKeyPath<\(type)>: SyncProperty] {\n\(properties)\n}",
                "\(access)typealias SyncKey = \(key.type)",
                "\(access)var syncKey: SyncKey? { \(key.value) }",
                "\(access)var syncID: JSONValue { \(key.id) }",
            ]
            return entity.hasColumns ? members : members + ["\(access)enum Columns {\n\(columns)\n}"]
        }

        /// The conformance.
        var conformance: String {
            let access = entity.access
            var members = [
                "\(access)init(entityRow row: EntityRow) throws {\n\(reading)\n}",
                "\(access)func encode(into row: inout EntityValues) throws {\n\(writing)\n}",
            ]
            if !entity.relationships.isEmpty {
                members.append(
                    "\(access)mutating func load(_ rows: [any EntityRecord], of relationship: String) {\n\(loading)\n}")
            }
            return "{\n" + members.joined(separator: "\n") + "\n}"
        }

        // MARK: The model

        private var model: String {
            var arguments = ["entityName"]
            if let parent = entity.argument("parent") {
                let type = parent.trimmedDescription
                arguments.append("parent: \(type.hasSuffix(".self") ? String(type.dropLast(5)) : type).entityName")
            }
            add("isAbstract", to: &arguments)
            if let key = entity.primaryKey { arguments.append("primaryKey: \(key)") }
            arguments.append("attributes: [\n\(entity.attributes.map(attribute).joined(separator: ",\n"))\n]")
            if !entity.relationships.isEmpty {
                arguments.append(
                    "relationships: [\n\(entity.relationships.compactMap(relationship).joined(separator: ",\n"))\n]")
            }
            for label in [
                "renamedFrom", "keepsFingerprints", "keys", "ignore", "resourceType", "discriminator", "table",
            ] {
                add(label, to: &arguments)
            }
            return "SyncModel.Entity(\(arguments.joined(separator: ", ")))"
        }

        private func add(_ label: String, to arguments: inout [String]) {
            if let value = entity.argument(label) { arguments.append("\(label): \(value.trimmedDescription)") }
        }

        private func attribute(_ property: EntityProperty) -> String {
            var arguments = ["\"\(property.name)\"", "(\(property.type ?? "Never")).self"]
            if let key = property.arguments("RemoteKey").first {
                arguments.append("remoteKey: \(key.expression.trimmedDescription)")
            }
            if property.isPrimaryKey, entity.primaryKey == nil {
                arguments.append("isPrimaryKey: true")
            } else if entity.keyNames.contains(property.name) {
                arguments.append("isKey: true")
            }
            if let value = property.initialValue, !value.is(NilLiteralExprSyntax.self) {
                arguments.append("default: \(value.trimmedDescription)")
            }
            let transformers = property.arguments("Transformer").map(\.expression.trimmedDescription)
            if !transformers.isEmpty { arguments.append("transformers: [\(transformers.joined(separator: ", "))]") }
            if property.attribute("NotExported") != nil { arguments.append("isExportable: false") }
            if let old = property.arguments("RenamedFrom").first {
                arguments.append("renamedFrom: \(old.expression.trimmedDescription)")
            }
            if let format = property.arguments("Format").first {
                arguments.append("format: \(format.expression.trimmedDescription)")
            }
            if let type = property.arguments("Stored").first {
                arguments.append("as: \(type.expression.trimmedDescription)")
            }
            if let column = property.arguments("Column").first {
                arguments.append("column: \(column.expression.trimmedDescription)")
            }
            return ".init(\(arguments.joined(separator: ", ")))"
        }

        private func relationship(_ property: EntityProperty) -> String? {
            guard let target = property.target else { return nil }
            var arguments = ["\"\(property.name)\"", "to: \(target.type).self"]
            if target.isToMany { arguments.append("many: true") }
            let said = property.arguments("Relationship")
            for label in ["ordered", "inverse", "deleteRule"] {
                guard let value = said.first(where: { $0.label?.text == label })?.expression else { continue }
                arguments.append("\(label): \(value.trimmedDescription)")
            }
            if let key = property.arguments("RemoteKey").first {
                arguments.append("remoteKey: \(key.expression.trimmedDescription)")
            }
            if property.attribute("NotExported") != nil { arguments.append("isExportable: false") }
            if let value = said.first(where: { $0.label?.text == "optional" })?.expression {
                arguments.append("isOptional: \(value.trimmedDescription)")
            }
            if let old = property.arguments("RenamedFrom").first {
                arguments.append("renamedFrom: \(old.expression.trimmedDescription)")
            }
            if let value = said.first(where: { $0.label?.text == "keyedBy" })?.expression {
                arguments.append("keyedBy: \(value.trimmedDescription)")
            }
            for label in ["table", "column", "inverseColumn"] {
                guard let value = said.first(where: { $0.label?.text == label })?.expression else { continue }
                arguments.append("\(label): \(value.trimmedDescription)")
            }
            return ".init(\(arguments.joined(separator: ", ")))"
        }

        private var properties: String {
            let attributes = entity.attributes.map { "\\\(type).\($0.identifier): \"\($0.name)\"" }
            let relationships = entity.relationships.compactMap { property in
                property.target.map {
                    "\\\(type).\(property.identifier): SyncProperty(\"\(property.name)\", to: \($0.type).self)"
                }
            }
            let all = attributes + relationships
            return all.isEmpty ? "[:]" : "[\n\(all.joined(separator: ",\n"))\n]"
        }

        /// For GRDB's query interface: `User.filter { $0.name == "Ann" }`.
        private var columns: String {
            let attributes = entity.attributes.map { (code: $0.identifier, name: $0.column) }
            let columns = attributes + toOne.map { (code: $0.keyName, name: $0.storedKeyColumn) }
            return columns.map { "\(entity.access)static let \($0.code) = EntityColumn(\"\($0.name)\")" }
                .joined(separator: "\n")
        }

        // MARK: The key

        private var key: (type: String, value: String, id: String) {
            let parts = entity.keyNames.compactMap { name in entity.properties.first { $0.name == name } }
            let values = parts.map { $0.isRelationship ? $0.keyName : $0.identifier }
            let id = "Self.syncID(of: \(values.joined(separator: ", ")))"
            guard parts.count == 1, let part = parts.first, !part.isRelationship, let type = part.type else {
                return ("RowNumber", "nil", parts.isEmpty ? ".null" : id)
            }
            return (type.hasSuffix("?") ? String(type.dropLast()) : type, part.identifier, id)
        }

        // MARK: Rows

        private var reading: String {
            (entity.attributes.map { "self.\($0.identifier) = try row.value(\"\($0.column)\")" }
                + toOne.map { "self.\($0.keyName) = try row.value(\"\($0.storedKeyColumn)\")" }).joined(separator: "\n")
        }

        private var writing: String {
            (entity.attributes.map {
                "try row.set(\"\($0.name)\", to: \($0.identifier)\($0.column == $0.name ? "" : ", in: \"\($0.column)\""))"
            }
                + toOne.map { "row.refer(\"\($0.name)\", to: \($0.keyName), in: \"\($0.storedKeyColumn)\")" }
                + entity.relationships.map { "row.relate(\"\($0.name)\", to: \($0.storage).rows)" })
                .joined(separator: "\n")
        }

        private var toOne: [EntityProperty] { entity.relationships.filter { $0.target?.isToMany == false } }

        private var loading: String {
            let cases = entity.relationships.compactMap { property in
                property.target.map { _ in "case \"\(property.name)\": \(property.storage).load(rows)" }
            }
            return "switch relationship {\n\(cases.joined(separator: "\n"))\ndefault: break\n}"
        }
    }
#endif
