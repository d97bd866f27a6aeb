#if Macros
    import SwiftParser
    import SwiftSyntax

    /// A type with `@Entity`: its properties, and what is said of the entity.
    struct EntityDeclaration {
        let node: AttributeSyntax
        let declaration: StructDeclSyntax
        let properties: [EntityProperty]
        /// Every stored property, whether it is one of the entity's or not.
        let names: Set<String>

        init?(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax) {
            guard let declaration = declaration.as(StructDeclSyntax.self) else { return nil }
            self.node = node
            self.declaration = declaration
            let all = declaration.memberBlock.members.compactMap {
                $0.decl.as(VariableDeclSyntax.self).flatMap(EntityProperty.init)
            }
            names = Set(all.map(\.name))
            let keys = Set(all.filter { $0.target?.isToMany == false }.map(\.keyColumn))
            properties = all.filter { !$0.isTransient && !keys.contains($0.name) }
        }

        var attributes: [EntityProperty] { properties.filter { !$0.isRelationship } }
        var relationships: [EntityProperty] { properties.filter { $0.target != nil } }

        /// `public ` where the type is, so that it fulfils the protocol everywhere.
        var access: String {
            let names = declaration.modifiers.map(\.name.text)
            return names.first { ["public", "package"].contains($0) }.map { $0 + " " } ?? ""
        }

        /// Whether the type has an enumeration of its columns already.
        var hasColumns: Bool {
            declaration.memberBlock.members.contains { member in
                member.decl.as(EnumDeclSyntax.self)?.name.text == "Columns"
            }
        }

        // MARK: Arguments

        func argument(_ label: String) -> ExprSyntax? {
            guard case .argumentList(let list) = node.arguments else { return nil }
            return list.first { $0.label?.text == label }?.expression
        }

        /// The name of the entity, as code.
        var entityName: String {
            guard case .argumentList(let list) = node.arguments, let first = list.first, first.label == nil else {
                return "\"\(declaration.name.text.trimmingBackticks)\""
            }
            return first.expression.trimmedDescription
        }

        var isKeyless: Bool { argument("isKeyless")?.trimmedDescription == "true" }

        // MARK: The key

        /// The names of the properties that the key is made of: those that are marked, those that the entity names, or
        /// one of the usual names.
        var keyNames: [String] {
            if let named = argument("primaryKey") {
                let list = named.as(ArrayExprSyntax.self)?.elements.map(\.expression) ?? [named]
                return list.compactMap { $0.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
            }
            let marked = properties.filter(\.isPrimaryKey).map(\.name)
            guard marked.isEmpty, !isKeyless else { return marked }
            return ["remoteID", "id"].first { name in attributes.contains { $0.name == name } }.map { [$0] } ?? []
        }

        /// Marked relationships can only be said of the entity, and with them the order of all parts.
        var primaryKey: String? {
            if let named = argument("primaryKey") { return named.trimmedDescription }
            guard properties.contains(where: { $0.isPrimaryKey && $0.isRelationship }) else { return nil }
            return "[" + keyNames.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        }
    }
#endif
