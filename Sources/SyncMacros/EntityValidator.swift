#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxBuilder

    /// Finds errors in the declaration of a type with `@Entity`, and offers fixes.
    struct EntityValidator {
        private let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        var diagnostics: [Diagnostic] {
            keyProblems + entity.properties.flatMap(problems) + entity.stored.flatMap(transientProblems)
                + remoteKeyProblems
        }

        // MARK: The key

        private var keyProblems: [Diagnostic] {
            let names = entity.keyNames
            let unknown = names.filter { name in !entity.properties.contains { $0.name == name } }
            if let name = unknown.first {
                return [Diagnostic(node: entity.node, message: EntityDiagnostic.unknownKey(name))]
            }
            if entity.isKeyless, let key = names.first ?? entity.impliedKey {
                return [
                    Diagnostic(
                        node: entity.node, message: EntityDiagnostic.keyless(entity.declaration.name.text, key: key))
                ]
            }
            guard names.isEmpty, !entity.isKeyless, entity.argument("primaryKey") == nil else { return [] }
            let problem = EntityDiagnostic.noPrimaryKey(entity.declaration.name.text)
            return [Diagnostic(node: entity.node, message: problem, fixIts: keyFixes)]
        }

        private var keyFixes: [FixIt] {
            let marking = entity.attributes.first.map { property in
                FixIt(
                    message: EntityFixIt(message: "mark '\(property.name)' as the primary key"),
                    changes: [change(property.variable) { Self.marked($0, "PrimaryKey") }])
            }
            let adding = FixIt(
                message: EntityFixIt(message: "add 'var id: Int'"),
                changes: [
                    .replace(
                        oldNode: Syntax(entity.declaration.memberBlock.members),
                        newNode: Syntax(
                            MemberBlockItemListSyntax(
                                [MemberBlockItemSyntax(decl: DeclSyntax("\n    var id: Int"))]
                                    + entity.declaration.memberBlock.members.map { $0 })))
                ])
            return [marking, adding].compactMap(\.self)
        }

        // MARK: Properties

        private func problems(_ property: EntityProperty) -> [Diagnostic] {
            if let reason = Self.reserved(property.name) {
                let name = FixIt(
                    message: EntityFixIt(
                        message: "rename it to '\(Self.otherName(property.name))' and read it from '\(property.name)'"),
                    changes: [
                        change(property.variable) { Self.renamed($0, property) }
                    ])
                return [
                    Diagnostic(
                        node: property.binding.pattern, message: EntityDiagnostic.reservedName(property.name, reason),
                        fixIts: [name])
                ]
            }
            if let set = property.setType { return [setProblem(property, set)] }
            return property.isRelationship ? relationshipProblems(property) : typeProblems(property)
        }

        private static func otherName(_ name: String) -> String {
            let prefix = ["sync_", "sqlite_"].first { name.lowercased().hasPrefix($0) && name.count > $0.count }
            return name.dropFirst(prefix?.count ?? 0) + "Value"
        }

        /// Returns the reason why a property cannot have a name; nil if it can. Some prefixes of columns are reserved,
        /// and so are `self` and the names of members that the macro adds.
        private static func reserved(_ name: String) -> String? {
            let folded = name.lowercased()
            if folded.hasPrefix("sync_") || folded.hasPrefix("sqlite_") {
                return "names that begin with 'sync_' or 'sqlite_' are reserved"
            }
            let members = [
                "syncID", "syncKey", "syncFetchedRow", "entityName", "syncEntity", "syncProperties",
                "databaseTableName",
            ]
            if name == "self" { return "'self' is a keyword of Swift" }
            return members.contains(name) ? "'@Entity' adds a member with this name" : nil
        }

        private func typeProblems(_ property: EntityProperty) -> [Diagnostic] {
            guard property.type != nil else {
                let typed = FixIt(
                    message: EntityFixIt(message: "add a type, such as ': String'"),
                    changes: [change(property.variable) { Self.typed($0) }])
                return [
                    Diagnostic(
                        node: property.binding.pattern, message: EntityDiagnostic.noType(property.name), fixIts: [typed]
                    )
                ]
            }
            guard let type = property.binding.typeAnnotation?.type, let what = Self.unfit(type) else { return [] }
            let left = FixIt(
                message: EntityFixIt(message: "exclude it from the rows with '@Transient'"),
                changes: [change(property.variable) { Self.marked($0, "Transient") }])
            return [
                Diagnostic(node: type, message: EntityDiagnostic.unfitType(property.name, what), fixIts: [left])
            ]
        }

        /// Returns a description of a type whose values cannot be stored; nil for other types.
        private static func unfit(_ type: TypeSyntax) -> String? {
            if let optional = type.as(OptionalTypeSyntax.self) { return unfit(optional.wrappedType) }
            if let attributed = type.as(AttributedTypeSyntax.self) { return unfit(attributed.baseType) }
            if let array = type.as(ArrayTypeSyntax.self) { return unfit(array.element) }
            if type.is(FunctionTypeSyntax.self) { return "a function" }
            if let tuple = type.as(TupleTypeSyntax.self) {
                return tuple.elements.count == 1 ? tuple.elements.first.flatMap { unfit($0.type) } : "a tuple"
            }
            if type.is(MetatypeTypeSyntax.self) { return "a metatype" }
            if let any = type.as(SomeOrAnyTypeSyntax.self) { return "'\(any.trimmedDescription)'" }
            guard let name = type.as(IdentifierTypeSyntax.self)?.name.text else { return nil }
            let others = [
                "Any", "AnyObject", "Character", "Substring", "Never", "AnyHashable", "UInt64", "UInt", "Float80",
            ]
            return others.contains(name) ? "'\(name)'" : nil
        }

        private func transientProblems(_ property: EntityProperty) -> [Diagnostic] {
            guard property.isTransient, !property.hasInitialValue else { return [] }
            return [
                Diagnostic(
                    node: property.binding.pattern, message: EntityDiagnostic.transientWithoutValue(property.name))
            ]
        }

        private func setProblem(_ property: EntityProperty, _ set: NamedType) -> Diagnostic {
            let array = "[\(set.argument ?? "")]"
            // A relationship has an array that is not optional.
            let replaced = property.isRelationship ? property.binding.typeAnnotation?.type ?? set.syntax : set.syntax
            var ordered = TypeSyntax(stringLiteral: array)
            (ordered.leadingTrivia, ordered.trailingTrivia) = (replaced.leadingTrivia, replaced.trailingTrivia)
            let fix = FixIt(
                message: EntityFixIt(message: "use '\(array)'"),
                changes: [.replace(oldNode: Syntax(replaced), newNode: Syntax(ordered))])
            return Diagnostic(
                node: set.syntax, message: EntityDiagnostic.set(property.name, array: array), fixIts: [fix])
        }

        private func relationshipProblems(_ property: EntityProperty) -> [Diagnostic] {
            if property.isBasic {
                let without = FixIt(
                    message: EntityFixIt(message: "remove '@Relationship'"),
                    changes: [change(property.variable) { Self.unmarked($0, "Relationship") }])
                return [
                    Diagnostic(
                        node: property.attribute("Relationship").map(Syntax.init) ?? Syntax(property.variable),
                        message: EntityDiagnostic.basicRelationship(property.name, property.type ?? ""),
                        fixIts: [without])
                ]
            }
            guard let target = property.target else {
                let type = property.binding.typeAnnotation?.type
                let fixed = type.flatMap { type -> TypeSyntax? in
                    guard property.isNestedList else {
                        return TypeSyntax(OptionalTypeSyntax(wrappedType: type.trimmed))
                    }
                    return NamedType(elementOf: type).map { TypeSyntax(ArrayTypeSyntax(element: $0.syntax.trimmed)) }
                }
                let fix = type.flatMap { type in
                    fixed.map { fixed in
                        FixIt(
                            message: EntityFixIt(message: "make it '\(fixed)'"),
                            changes: [.replace(oldNode: Syntax(type), newNode: Syntax(fixed))])
                    }
                }
                return [
                    Diagnostic(
                        node: property.binding,
                        message: EntityDiagnostic.unfitRelationship(property.name, property.type ?? "that"),
                        fixIts: [fix].compactMap(\.self))
                ]
            }
            var found: [Diagnostic] = []
            if property.initialValue != nil {
                let without = FixIt(
                    message: EntityFixIt(message: "remove the initial value"),
                    changes: [change(property.variable) { Self.withoutValue($0) }])
                found.append(
                    Diagnostic(
                        node: property.binding, message: EntityDiagnostic.initialRows(property.name), fixIts: [without])
                )
            }
            return found + inverseProblems(property, target)
        }

        /// Checks that a key path to the inverse begins at the destination.
        private func inverseProblems(_ property: EntityProperty, _ target: EntityProperty.Target) -> [Diagnostic] {
            let inverse = property.arguments("Relationship").first { $0.label?.text == "inverse" }?.expression
            guard let path = inverse?.as(KeyPathExprSyntax.self), let root = path.root,
                root.trimmedDescription != target.type
            else { return [] }
            let led = FixIt(
                message: EntityFixIt(message: "use a key path of \(target.type)"),
                changes: [
                    .replace(oldNode: Syntax(root), newNode: Syntax(TypeSyntax(stringLiteral: target.type)))
                ])
            return [
                Diagnostic(
                    node: path,
                    message: EntityDiagnostic.otherInverse(
                        property.name, root: root.trimmedDescription, target: target.type), fixIts: [led])
            ]
        }

        private var remoteKeyProblems: [Diagnostic] {
            var seen: [String: EntityProperty] = [:]
            return entity.properties.compactMap { property in
                guard let key = property.text("RemoteKey") else { return nil }
                guard let other = seen[key] else {
                    seen[key] = property
                    return nil
                }
                let without = FixIt(
                    message: EntityFixIt(message: "remove this '@RemoteKey'"),
                    changes: [change(property.variable) { Self.unmarked($0, "RemoteKey") }])
                return Diagnostic(
                    node: property.attribute("RemoteKey").map(Syntax.init) ?? Syntax(property.variable),
                    message: EntityDiagnostic.sameRemoteKey(property.name, other.name, key), fixIts: [without])
            }
        }

        // MARK: Changes

        private func change(
            _ variable: VariableDeclSyntax, _ body: (VariableDeclSyntax) -> VariableDeclSyntax
        ) -> FixIt.Change {
            .replace(oldNode: Syntax(variable), newNode: Syntax(body(variable)))
        }

        private static func marked(_ variable: VariableDeclSyntax, _ name: String) -> VariableDeclSyntax {
            var variable = variable
            let leading = variable.leadingTrivia
            variable.leadingTrivia = []
            let mark = AttributeSyntax(
                attributeName: IdentifierTypeSyntax(name: .identifier(name)), trailingTrivia: .space)
            variable.attributes = AttributeListSyntax([.attribute(mark)] + variable.attributes.map { $0 })
            variable.leadingTrivia = leading
            return variable
        }

        private static func unmarked(_ variable: VariableDeclSyntax, _ name: String) -> VariableDeclSyntax {
            var variable = variable
            let leading = variable.leadingTrivia
            variable.attributes = variable.attributes.filter {
                $0.as(AttributeSyntax.self)?.macroName != name
            }
            variable.leadingTrivia = leading
            return variable
        }

        private static func renamed(_ variable: VariableDeclSyntax, _ property: EntityProperty) -> VariableDeclSyntax {
            var variable = variable
            if var binding = variable.bindings.first {
                binding.pattern = PatternSyntax(
                    IdentifierPatternSyntax(identifier: .identifier(otherName(property.name))))
                variable.bindings = [binding]
            }
            let leading = variable.leadingTrivia
            variable.leadingTrivia = []
            let key = AttributeSyntax("@RemoteKey(\(literal: property.name)) ")
            variable.attributes = AttributeListSyntax([.attribute(key)] + variable.attributes.map { $0 })
            variable.leadingTrivia = leading
            return variable
        }

        private static func typed(_ variable: VariableDeclSyntax) -> VariableDeclSyntax {
            var variable = variable
            if var binding = variable.bindings.first {
                binding.pattern = binding.pattern.trimmed
                binding.typeAnnotation = TypeAnnotationSyntax(
                    colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("String"),
                    trailingTrivia: binding.initializer == nil ? [] : .space)
                variable.bindings = [binding]
            }
            return variable
        }

        private static func withoutValue(_ variable: VariableDeclSyntax) -> VariableDeclSyntax {
            var variable = variable
            if var binding = variable.bindings.first {
                binding.initializer = nil
                binding.typeAnnotation = binding.typeAnnotation?.trimmed
                variable.bindings = [binding]
            }
            return variable
        }
    }

    /// An error in the declaration of a type with `@Entity`.
    enum EntityDiagnostic: DiagnosticMessage {
        case noStruct
        case noPrimaryKey(String)
        case unknownKey(String)
        case keyless(String, key: String)
        case noType(String)
        case unfitType(String, String)
        case reservedName(String, String)
        case transientWithoutValue(String)
        case set(String, array: String)
        case basicRelationship(String, String)
        case unfitRelationship(String, String)
        case initialRows(String)
        case otherInverse(String, root: String, target: String)
        case sameRemoteKey(String, String, String)

        var message: String {
            switch self {
            case .noStruct: "'@Entity' can only be attached to a struct"
            case .noPrimaryKey(let name):
                "'\(name)' has no primary key: mark a property with '@PrimaryKey', or name it 'id' or 'remoteID'"
            case .unknownKey(let name): "the primary key names '\(name)', which is not a property"
            case .keyless(let name, let key):
                "'\(name)' is keyless, but '\(key)' would be its primary key: remove one of the two"
            case .noType(let name): "'\(name)' needs a type annotation to become an attribute"
            case .unfitType(let name, let type):
                "'\(name)' cannot be stored: \(type) is neither a column type nor a JSON type"
            case .reservedName(let name, let reason): "'\(name)' is not a valid property name: \(reason)"
            case .transientWithoutValue(let name):
                "'\(name)' needs an initial value, because rows do not have the property"
            case .set(let name, let array): "'\(name)' cannot be a set, because a set has no order: use '\(array)'"
            case .basicRelationship(let name, let type):
                "the relationship '\(name)' has the type \(type), which is not an entity: remove '@Relationship'"
            case .unfitRelationship(let name, let type):
                "the relationship '\(name)' has the type \(type): use 'Type?' for one row and '[Type]' for several"
            case .initialRows(let name):
                "the relationship '\(name)' must not have an initial value"
            case .otherInverse(let name, let root, let target):
                "the inverse of '\(name)' must be a property of \(target), not of \(root)"
            case .sameRemoteKey(let name, let other, let key):
                "'\(name)' and '\(other)' have the same remote key '\(key)'"
            }
        }

        var diagnosticID: MessageID { MessageID(domain: "Sync", id: "\(self)") }
        var severity: DiagnosticSeverity { .error }
    }

    /// A suggested fix for an error in a declaration.
    struct EntityFixIt: FixItMessage {
        let message: String
        var fixItID: MessageID { MessageID(domain: "Sync", id: message) }
    }
#endif
