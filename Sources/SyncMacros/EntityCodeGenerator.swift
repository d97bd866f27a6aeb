#if Macros
    import SwiftSyntax

    /// Generates the code that `@Entity` adds. The code qualifies types with their modules, because an app can have
    /// types with the same names.
    ///
    /// Code that uses types of the app is added to the struct itself, so that their names resolve as in its source.
    struct EntityCodeGenerator {
        private let entity: EntityDeclaration
        private var type: String { entity.declaration.name.text }

        init(_ entity: EntityDeclaration) { self.entity = entity }

        /// The members that the macro adds to the struct, except the storage of relationships.
        var members: [String] {
            let access = entity.access
            let members = [
                "\(access)static var entityName: Swift.String { \(entity.entityName) }",
                "\(access)static var databaseTableName: Swift.String { \(entity.argument("table")?.trimmedDescription ?? "entityName") }",
                "\(access)static var syncEntity: SyncCore.SyncModel.Entity {\n\(model)\n}",
                "\(access)static var syncProperties: [Swift.PartialKeyPath<\(type)>: SyncCore.SyncProperty] {\n\(properties)\n}",
                "\(access)typealias SyncKey = \(key.type)",
                "\(access)var syncKey: SyncKey? { \(key.value) }",
                "\(access)var syncID: SyncCore.JSONValue { \(key.id) }",
                "\(access)var syncFetchedRow = SyncSQLite.FetchedRow(tracksEdits: \(entity.tracksEdits))",
            ]
            return entity.hasColumns ? members : members + ["\(access)nonisolated enum Columns {\n\(columns)\n}"]
        }

        /// The body of the extension that conforms the struct to `EntityRecord`.
        var conformance: String {
            let access = entity.access
            var members = [
                "\(access)init(entityRow row: SyncSQLite.EntityRowDecoder) throws {\n\(reading)\n}",
                "\(access)func encode(into row: inout SyncSQLite.EntityRowEncoder) throws {\n\(writing)\n}",
            ]
            if !entity.relationships.isEmpty {
                members.append(
                    "\(access)mutating func setRelated(_ rows: [any SyncSQLite.EntityRecord], for relationship: Swift.String) {\n\(loading)\n}"
                )
            }
            return "{\n" + members.joined(separator: "\n") + "\n}"
        }

        // MARK: The model

        private var parent: String? {
            guard let type = entity.argument("parent")?.trimmedDescription else { return nil }
            return type.hasSuffix(".self") ? String(type.dropLast(5)) : type
        }

        private var model: String {
            var arguments = ["entityName"]
            if let parent { arguments.append("parent: \(parent).entityName") }
            add("isAbstract", to: &arguments)
            if let key = entity.primaryKey { arguments.append("primaryKey: \(key)") }
            arguments.append("attributes: [\n\(entity.attributes.map(attribute).joined(separator: ",\n"))\n]")
            if !entity.relationships.isEmpty {
                arguments.append(
                    "relationships: [\n\(entity.relationships.compactMap(relationship).joined(separator: ",\n"))\n]")
            }
            for label in ["renamedFrom", "keyCase", "ignoredKeys", "resourceType", "discriminator", "table"] {
                add(label, to: &arguments)
            }
            return "SyncCore.SyncModel.Entity(\(arguments.joined(separator: ", ")))"
        }

        private func add(_ label: String, to arguments: inout [String]) {
            if let value = entity.argument(label) { arguments.append("\(label): \(value.trimmedDescription)") }
        }

        private func attribute(_ property: EntityProperty) -> String {
            var arguments = ["\"\(property.name)\"", attributeType(property)]
            add("remoteKey", from: "RemoteKey", of: property, to: &arguments)
            if property.isPrimaryKey, entity.primaryKey == nil {
                arguments.append("isPrimaryKey: true")
            } else if entity.keyNames.contains(property.name) {
                arguments.append("isKey: true")
            }
            if let value = property.constantValue, !value.is(NilLiteralExprSyntax.self) {
                arguments.append("default: \(value.trimmedDescription)")
            }
            let transformers = property.arguments("Transformer").map(\.expression.trimmedDescription)
            if !transformers.isEmpty { arguments.append("transformers: [\(transformers.joined(separator: ", "))]") }
            if property.attribute("NotExported") != nil { arguments.append("isExported: false") }
            add("renamedFrom", from: "RenamedFrom", of: property, to: &arguments)
            add("format", from: "Format", of: property, to: &arguments)
            add("as", from: "Stored", of: property, to: &arguments)
            add("column", from: "Column", of: property, to: &arguments)
            return ".init(\(arguments.joined(separator: ", ")))"
        }

        /// The Swift type of an attribute. The compiler checks that it is not an entity, unless it is a basic type or
        /// the property has `@Stored`.
        private func attributeType(_ property: EntityProperty) -> String {
            let type = property.type ?? "Swift.Never"
            // Without an annotation, the type is that of a literal.
            let isBasic = property.isBasic || property.binding.typeAnnotation == nil
            if isBasic || property.attribute("Stored") != nil { return "(\(type)).self" }
            return "SyncCore.PropertyType<\(type)>.attributeType"
        }

        private func relationship(_ property: EntityProperty) -> String? {
            guard let target = property.target else { return nil }
            var arguments = ["\"\(property.name)\"", "to: \(target.type).self"]
            if target.isToMany { arguments.append("many: true") }
            for label in ["ordered", "inverse", "deleteRule"] { add(label, of: property, to: &arguments) }
            add("remoteKey", from: "RemoteKey", of: property, to: &arguments)
            if property.attribute("NotExported") != nil { arguments.append("isExported: false") }
            add("isOptional", as: "optional", of: property, to: &arguments)
            add("renamedFrom", from: "RenamedFrom", of: property, to: &arguments)
            for label in ["keyedBy", "table", "column", "inverseColumn"] { add(label, of: property, to: &arguments) }
            return ".init(\(arguments.joined(separator: ", ")))"
        }

        /// Appends the first argument of a marker macro on a property, if the property has this macro.
        private func add(
            _ label: String, from mark: String, of property: EntityProperty, to arguments: inout [String]
        ) {
            guard let value = property.arguments(mark).first else { return }
            arguments.append("\(label): \(value.expression.trimmedDescription)")
        }

        /// Appends an argument of `@Relationship`, if it is given.
        private func add(
            _ label: String, as name: String? = nil, of property: EntityProperty, to arguments: inout [String]
        ) {
            let said = property.arguments("Relationship").first { $0.label?.text == name ?? label }
            if let said { arguments.append("\(label): \(said.expression.trimmedDescription)") }
        }

        private var properties: String {
            let attributes = entity.attributes.map { property($0.identifier, $0.name) }
            let relationships = entity.relationships.flatMap { relationship -> [String] in
                guard let target = relationship.target else { return [] }
                let paths = [relationship.identifier] + (target.isToMany ? ["\(relationship.identifier).each"] : [])
                return paths.map { property($0, relationship.name, to: target.type) }
            }
            // In predicates, the property with the key of a to-one relationship stands for the relationship. It is nil
            // if there is no related row.
            let keys = toOne.map { property($0.keyName, $0.name) }
            let all = attributes + relationships + keys
            return all.isEmpty ? "[:]" : "[\n\(all.joined(separator: ",\n"))\n]"
        }

        /// Returns an entry of `syncProperties`.
        private func property(_ path: String, _ name: String, to target: String? = nil) -> String {
            let destination = target.map { ", to: \($0).self" } ?? ""
            let optional = "\\\(type)?.?.\(path)"
            return "\\\(type).\(path): SyncCore.SyncProperty(\"\(name)\"\(destination), inOptional: \(optional))"
        }

        /// The members of the enumeration `Columns`, for GRDB's query interface: `User.filter { $0.name == "Ann" }`.
        private var columns: String {
            let attributes = entity.attributes.map { (code: $0.identifier, name: $0.column) }
            let columns = attributes + toOne.map { (code: $0.keyName, name: $0.storedKeyColumn) }
            return columns.map { "\(entity.access)static let \($0.code) = SyncSQLite.EntityColumn(\"\($0.name)\")" }
                .joined(separator: "\n")
        }

        // MARK: The key

        private var key: (type: String, value: String, id: String) {
            let parts = entity.keyNames.compactMap { name in entity.properties.first { $0.name == name } }
            let values = parts.map { $0.isRelationship ? $0.keyName : $0.identifier }
            let id = "Self.syncID(of: \(values.joined(separator: ", ")))"
            guard parts.count == 1, let part = parts.first, !part.isRelationship, let type = part.type else {
                return ("SyncSQLite.RowNumber", "nil", parts.isEmpty ? ".null" : id)
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
                "try row.set(\"\($0.name)\", to: self.\($0.identifier)\($0.column == $0.name ? "" : ", in: \"\($0.column)\""))"
            }
                + toOne.map {
                    "row.setForeignKey(\"\($0.name)\", to: self.\($0.keyName), in: \"\($0.storedKeyColumn)\")"
                }
                + entity.relationships.map {
                    let key = $0.target?.isToMany == false ? ", withKey: self.\($0.keyName)" : ""
                    return "row.setRelated(\"\($0.name)\", to: self.\($0.storage)\(key))"
                })
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

    // MARK: - Memberwise initializer

    /// Generates the memberwise initializer of a type with `@Entity`.
    ///
    /// The initializer that the compiler would add has the storage of relationships as parameters (`_department:`), and
    /// is never public. This one takes the related rows (`department:`), and has the access of the type.
    struct MemberwiseInitializer {
        private struct Parameter {
            let text: String
            let assignments: [String]
        }

        private let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        /// The code; nil if the type declares an initializer, or has a stored property that the macro cannot read.
        var code: String? {
            guard !declaresInitializer, storedProperties.count == entity.stored.count else { return nil }
            let isComplete = entity.stored.allSatisfy { isAccessible($0) || hasDefault($0) }
            let included = (isComplete ? entity.stored.filter(isAccessible) : entity.stored).filter {
                !$0.isRelationship || $0.target != nil
            }
            guard included.allSatisfy({ $0.type != nil || hasDefault($0) }) else { return nil }
            // A related row overrides a key property that the type declares, so it is assigned last.
            let assigned = included.filter { !$0.isRelationship } + included.filter(\.isRelationship)
            let assignments = assigned.compactMap(parameter).flatMap(\.assignments)
            let parameters = included.compactMap(parameter).map(\.text)
            return """
                /// Creates a value. The rows of a relationship are not loaded if they are not passed.
                \(isComplete ? entity.access : "")init(\(parameters.joined(separator: ", "))) {
                \(assignments.joined(separator: "\n"))
                }
                """
        }

        private var declaresInitializer: Bool {
            entity.declaration.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
        }

        /// The stored properties of the type that an initializer could set, also those that the macro cannot read.
        private var storedProperties: [VariableDeclSyntax] {
            entity.declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }.filter {
                variable in
                !variable.modifiers.contains { $0.name.text == "static" }
                    && !variable.bindings.contains { binding in
                        EntityProperty.isComputed(binding)
                            || variable.bindingSpecifier.text == "let" && binding.initializer != nil
                    }
            }
        }

        /// Whether code that can use the type can also use the property.
        private func isAccessible(_ property: EntityProperty) -> Bool {
            let modifiers = property.variable.modifiers.filter { $0.detail == nil }.map(\.name.text)
            if modifiers.contains("private") || modifiers.contains("fileprivate") { return false }
            return entity.access.isEmpty || modifiers.contains(String(entity.access.dropLast()))
        }

        private func hasDefault(_ property: EntityProperty) -> Bool {
            property.hasInitialValue || property.isRelationship
        }

        private func parameter(_ property: EntityProperty) -> Parameter? {
            let name = property.identifier
            if let target = property.target {
                if target.isToMany {
                    return Parameter(
                        text: "\(name): [\(target.type)]? = nil",
                        assignments: ["self.\(property.storage) = SyncCore.RelatedRows(\(name))"])
                }
                let rows = "self.\(property.storage) = SyncCore.RelatedRows(\(name).map { [$0] })"
                let key = property.keyName
                if entity.names.contains(property.keyColumn) {
                    // The type declares the property with the key, so it has a parameter of its own.
                    return Parameter(
                        text: "\(name): \(target.type)? = nil",
                        assignments: [rows, "if let key = \(name)?.syncKey { self.\(key) = key }"])
                }
                return Parameter(
                    text: "\(name): \(target.type)? = nil, \(key): \(target.type).SyncKey? = nil",
                    assignments: [rows, "self.\(key) = \(name)?.syncKey ?? \(key)"])
            }
            // A property whose type is not written keeps its initial value.
            guard let type = property.type else { return nil }
            let fallback = property.initialValue.map { " = \($0.trimmedDescription)" }
            return Parameter(
                text: "\(name): \(type)\(fallback ?? (hasDefault(property) ? " = nil" : ""))",
                assignments: ["self.\(name) = \(name)"])
        }
    }
#endif
