#if Macros
    import SwiftParser
    import SwiftSyntax

    /// A type with `@Entity`: its properties, and the arguments of the macro.
    struct EntityDeclaration {
        let node: AttributeSyntax
        let declaration: StructDeclSyntax
        let properties: [EntityProperty]
        /// All properties that ``EntityProperty`` can read, including those that are not in the entity.
        let stored: [EntityProperty]
        /// The names of these properties.
        let names: Set<String>

        init?(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax) {
            guard let declaration = declaration.as(StructDeclSyntax.self) else { return nil }
            self.node = node
            self.declaration = declaration
            let all = declaration.memberBlock.members.compactMap {
                $0.decl.as(VariableDeclSyntax.self).flatMap(EntityProperty.init)
            }
            stored = all
            names = Set(all.map(\.name))
            let keys = Set(all.filter { $0.target?.isToMany == false }.map(\.keyColumn))
            properties = all.filter { !$0.isTransient && !keys.contains($0.name) }
        }

        var attributes: [EntityProperty] { properties.filter { !$0.isRelationship } }
        var relationships: [EntityProperty] { properties.filter { $0.target != nil } }

        /// The access modifier of the generated members, with a space: `public ` or `package ` if the type has it.
        /// Otherwise empty.
        var access: String {
            let names = declaration.modifiers.map(\.name.text)
            return names.first { ["public", "package"].contains($0) }.map { $0 + " " } ?? ""
        }

        /// Whether the type declares its own enumeration `Columns`.
        var hasColumns: Bool {
            declaration.memberBlock.members.contains { member in
                member.decl.as(EnumDeclSyntax.self)?.name.text == "Columns"
            }
        }

        /// Whether the macro can record each edit of a value. A property with observers or a property wrapper cannot
        /// have more accessors.
        var tracksEdits: Bool {
            stored.allSatisfy {
                $0.isTracked || $0.isRelationship || $0.isTransient || $0.variable.bindingSpecifier.text == "let"
            }
        }

        // MARK: Arguments

        func argument(_ label: String) -> ExprSyntax? {
            guard case .argumentList(let list) = node.arguments else { return nil }
            return list.first { $0.label?.text == label }?.expression
        }

        /// The name of the entity, as a Swift expression.
        var entityName: String {
            guard case .argumentList(let list) = node.arguments, let first = list.first, first.label == nil else {
                return "\"\(declaration.name.text.trimmingBackticks)\""
            }
            return first.expression.trimmedDescription
        }

        var isKeyless: Bool { argument("isKeyless")?.trimmedDescription == "true" }

        // MARK: The key

        /// The names of the properties in the primary key: those in the argument `primaryKey`, or else those with
        /// `@PrimaryKey`, or else `id` or `remoteID`. A keyless entity has neither of the last two.
        var keyNames: [String] {
            if let named = argument("primaryKey") {
                let list = named.as(ArrayExprSyntax.self)?.elements.map(\.expression) ?? [named]
                return list.compactMap { $0.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
            }
            let marked = properties.filter(\.isPrimaryKey).map(\.name)
            guard marked.isEmpty, !isKeyless else { return marked }
            return defaultKey.map { [$0] } ?? []
        }

        /// The property that is the key if no key is declared. The names are those of `SyncModel.PrimaryKey`, which
        /// macros cannot use.
        private var defaultKey: String? {
            ["id", "remoteID"].first { name in attributes.contains { $0.name == name } }
        }

        /// The property that a model would make the key; nil if there is none, or if its type cannot be a key.
        var impliedKey: String? {
            defaultKey.flatMap { name in
                let type = attributes.first { $0.name == name }?.type
                let canBeKey = type.map { !["Bool", "Data", "JSONValue", "URL"].contains($0.filter { $0 != "?" }) }
                return canBeKey == true ? name : nil
            }
        }

        /// The argument `primaryKey` of the model's entity, as a Swift expression; nil if the entity needs none.
        ///
        /// If all properties with `@PrimaryKey` are attributes, the attributes themselves declare the key. A
        /// relationship cannot, so a key with a relationship needs the argument.
        var primaryKey: String? {
            if let named = argument("primaryKey") { return named.trimmedDescription }
            guard properties.contains(where: { $0.isPrimaryKey && $0.isRelationship }) else { return nil }
            return "[" + keyNames.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        }
    }

    /// A stored property of a type with `@Entity`, from its source.
    struct EntityProperty {
        /// The destination of a relationship.
        struct Target {
            let type: String
            let isToMany: Bool
        }

        let variable: VariableDeclSyntax
        let binding: PatternBindingSyntax
        /// The name as it is written in code, with backticks if it needs them.
        let identifier: String
        let name: String
        /// The declared type, or else the type of the literal that is the initial value; nil if there is neither.
        let type: String?
        let initialValue: ExprSyntax?

        /// Reads a property; nil if it cannot be an attribute or relationship, such as a computed, static or lazy
        /// property.
        init?(_ variable: VariableDeclSyntax) {
            let modifiers = variable.modifiers.map(\.name.text)
            guard let binding = variable.bindings.first, variable.bindings.count == 1,
                let pattern = binding.pattern.as(IdentifierPatternSyntax.self),
                !modifiers.contains("static"), !modifiers.contains("lazy"), !Self.isComputed(binding)
            else { return nil }
            // A constant with an initial value is the same in all rows, so it is not an attribute.
            if variable.bindingSpecifier.text == "let", binding.initializer != nil { return nil }
            self.variable = variable
            self.binding = binding
            identifier = pattern.identifier.text
            name = identifier.trimmingBackticks
            initialValue = binding.initializer?.value
            type = binding.typeAnnotation?.type.trimmedDescription ?? initialValue.flatMap(Self.type)
        }

        static func isComputed(_ binding: PatternBindingSyntax) -> Bool {
            switch binding.accessorBlock?.accessors {
            case .getter: true
            case .accessors(let accessors): accessors.contains { ["get", "_read"].contains($0.accessorSpecifier.text) }
            case nil: false
            }
        }

        /// The initial value, if it is the same each time; nil for values such as `UUID()` or `Date()`. A model has one
        /// default for all rows.
        var constantValue: ExprSyntax? {
            guard let initialValue else { return nil }
            let finder = VaryingValueFinder(typeOfValue: type)
            finder.walk(initialValue)
            return finder.isVarying ? nil : initialValue
        }

        private static func type(of literal: ExprSyntax) -> String? {
            if literal.is(IntegerLiteralExprSyntax.self) { return "Int" }
            if literal.is(FloatLiteralExprSyntax.self) { return "Double" }
            if literal.is(BooleanLiteralExprSyntax.self) { return "Bool" }
            if literal.is(StringLiteralExprSyntax.self) { return "String" }
            if let prefix = literal.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
                return type(of: prefix.expression)
            }
            return nil
        }

        /// Whether the property has a value without an initializer that sets it.
        var hasInitialValue: Bool {
            if initialValue != nil { return true }
            guard variable.bindingSpecifier.text == "var", let type else { return false }
            return type.hasSuffix("?") || type.hasPrefix("Optional<") || type.hasPrefix("Swift.Optional<")
        }

        // MARK: Macros of the property

        func attribute(_ name: String) -> AttributeSyntax? {
            variable.attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }
                .first { $0.macroName == name }
        }

        func arguments(_ name: String) -> LabeledExprListSyntax {
            guard case .argumentList(let list) = attribute(name)?.arguments else { return [] }
            return list
        }

        /// Whether the macro can record each edit of the property with an observer.
        var isTracked: Bool {
            variable.bindingSpecifier.text == "var" && binding.accessorBlock == nil && !isRelationship && !isTransient
                && variable.attributes.allSatisfy { element in
                    guard let name = element.as(AttributeSyntax.self)?.macroName else { return false }
                    return Self.markers.contains(name)
                }
        }

        /// The attributes that add no accessors.
        private static let markers: Set = [
            "PrimaryKey", "RemoteKey", "NotExported", "Transformer", "Format", "Stored", "Column", "RenamedFrom",
            "available", "MainActor", "usableFromInline",
        ]

        var isTransient: Bool { attribute("Transient") != nil }
        var isPrimaryKey: Bool { attribute("PrimaryKey") != nil }
        var isRelationship: Bool { attribute("Relationship") != nil }

        /// Returns the first argument of a macro on the property if it is a string literal; nil otherwise.
        func text(_ attribute: String) -> String? {
            arguments(attribute).first.flatMap {
                $0.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
            }
        }

        /// The column of the attribute: the argument of `@Column`, or else the name of the property.
        var column: String { text("Column") ?? name }

        // MARK: Relationships

        /// The destination of a relationship, from its type: `[Note]`, `Company?`; nil for other types.
        var target: Target? {
            guard isRelationship, !isBasic, setType == nil, let type = binding.typeAnnotation?.type,
                let (element, isToMany) = Self.element(of: type), Self.element(of: element) == nil
            else { return nil }
            return Target(type: element.trimmedDescription, isToMany: isToMany)
        }

        /// Returns the type in an array or an optional; nil for other types.
        private static func element(of type: TypeSyntax) -> (type: TypeSyntax, isToMany: Bool)? {
            if let array = type.as(ArrayTypeSyntax.self) { return (array.element, true) }
            if let optional = type.as(OptionalTypeSyntax.self) { return (optional.wrappedType, false) }
            // In newer versions of swift-syntax, an argument can also be an expression.
            guard let named = type.as(IdentifierTypeSyntax.self), let inner = named.genericArgumentClause?.arguments,
                inner.count == 1, let argument = inner.first, ["Array", "Optional"].contains(named.name.text),
                let element = Syntax(argument.argument).as(TypeSyntax.self)
            else { return nil }
            return (element, named.name.text == "Array")
        }

        /// Whether the property is an optional list, or a list of optional rows, which no relationship can be.
        var isNestedList: Bool {
            binding.typeAnnotation.flatMap { Self.element(of: $0.type) }.flatMap { Self.element(of: $0.type) } != nil
        }

        /// Whether the values are of a basic type, such as `Int` for `[Int]?`.
        var isBasic: Bool {
            guard let type = binding.typeAnnotation?.type else { return false }
            let name = NamedType(elementOf: type)?.name ?? ""
            let integers = ["Int", "UInt"].flatMap { kind in ["", "8", "16", "32", "64"].map { kind + $0 } }
            let others = [
                "Bool", "Data", "Date", "Decimal", "Double", "Float", "JSONValue", "String", "URL", "UUID",
            ]
            return (integers + others).contains(name)
        }

        /// The set type of the values: `Set<Int>` for `Set<Int>?`; nil if they are no sets.
        var setType: NamedType? {
            guard let type = binding.typeAnnotation?.type, let named = NamedType(elementOf: type) else { return nil }
            return named.name == "Set" && named.argument != nil ? named : nil
        }

        /// The name of the added property that stores the related rows.
        var storage: String { "_\(name)".asIdentifier }

        /// The name, as it is written in code, of the property with the key of the related row of a to-one
        /// relationship.
        var keyName: String { keyColumn.asIdentifier }

        /// The name of the property with the key of the related row, and the default name of its column.
        var keyColumn: String { "\(name)ID" }

        /// The column with the key of the related row: the argument `column` of `@Relationship`, or else `keyColumn`.
        var storedKeyColumn: String {
            let said = arguments("Relationship").first { $0.label?.text == "column" }?.expression
            return said?.as(StringLiteralExprSyntax.self)?.representedLiteralValue ?? keyColumn
        }
    }

    /// Finds values that differ each time: `UUID()`, `Date()`, `Date.now`, random values, and calls of functions.
    private final class VaryingValueFinder: SyntaxVisitor {
        private(set) var isVarying = false
        private let typeOfValue: String?

        /// - Parameter typeOfValue: The type that `.init()` creates.
        init(typeOfValue: String?) {
            self.typeOfValue = typeOfValue
            super.init(viewMode: .sourceAccurate)
        }

        override func visit(_ member: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            let name = member.declName.baseName.text
            if name == "now" || name.hasPrefix("random") { isVarying = true }
            return .visitChildren
        }

        override func visit(_ call: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            var type: String?
            if let member = call.calledExpression.as(MemberAccessExprSyntax.self) {
                let name = member.declName.baseName.text
                type = name == "init" ? member.base?.trimmedDescription ?? typeOfValue : name
            } else if let reference = call.calledExpression.as(DeclReferenceExprSyntax.self) {
                type = reference.baseName.text
                if type?.first?.isLowercase == true { isVarying = true }
            } else if call.calledExpression.is(ClosureExprSyntax.self) {
                isVarying = true
            }
            let name = type?.split(separator: ".").last?.filter { $0 != "?" }
            if call.arguments.isEmpty, ["UUID", "Date"].contains(name) { isVarying = true }
            return .visitChildren
        }
    }

    /// A type with a name, without the name of its module: `Date` for `Foundation.Date`.
    struct NamedType {
        let syntax: TypeSyntax
        let name: String
        /// The only generic argument, such as `Int` of `Set<Int>`; nil if there is none, or several.
        let argument: String?

        /// Finds the type inside optionals and arrays; nil if it has no name, such as a function.
        init?(elementOf type: TypeSyntax) {
            if let array = type.as(ArrayTypeSyntax.self) {
                self.init(elementOf: array.element)
            } else if let optional = type.as(OptionalTypeSyntax.self) {
                self.init(elementOf: optional.wrappedType)
            } else if let plain = type.as(IdentifierTypeSyntax.self) {
                self.init(type, plain.name.text, plain.genericArgumentClause)
            } else if let member = type.as(MemberTypeSyntax.self),
                ["Swift", "Foundation", "SyncCore"].contains(member.baseType.trimmedDescription)
            {
                self.init(type, member.name.text, member.genericArgumentClause)
            } else {
                return nil
            }
        }

        private init?(_ type: TypeSyntax, _ name: String, _ clause: GenericArgumentClauseSyntax?) {
            let only = clause?.arguments.count == 1 ? clause?.arguments.first?.argument : nil
            // In newer versions of swift-syntax, an argument can also be an expression.
            if ["Array", "Optional"].contains(name), let element = only.map(Syntax.init)?.as(TypeSyntax.self) {
                self.init(elementOf: element)
            } else {
                self.init(syntax: type, name: name, argument: only?.trimmedDescription)
            }
        }

        private init(syntax: TypeSyntax, name: String, argument: String?) {
            (self.syntax, self.name, self.argument) = (syntax, name, argument)
        }
    }

    extension AttributeSyntax {
        /// The name of the macro, without the module that qualifies it: `Sync.Relationship`, `Sync::Relationship`.
        var macroName: String? {
            attributeName.trimmedDescription.split { $0 == "." || $0 == ":" }.last.map(String.init)
        }
    }

    extension String {
        /// The name in backticks if it is not a plain identifier.
        var asIdentifier: String {
            let isPlain = unicodeScalars.allSatisfy {
                $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
            return isPlain ? self : "`\(self)`"
        }

        var trimmingBackticks: String {
            hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
        }
    }
#endif
