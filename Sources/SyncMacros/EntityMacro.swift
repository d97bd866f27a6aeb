#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxBuilder
    import SwiftSyntaxMacros

    /// The macro `@Entity`. It adds the storage of relationships to a struct, and makes it conform to `EntityRecord`.
    struct EntityMacro: MemberMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let entity = EntityDeclaration(declaration, node) else {
                context.diagnose(Diagnostic(node: node, message: EntityDiagnostic.noStruct))
                return []
            }
            for diagnostic in EntityValidator(entity).diagnostics { context.diagnose(diagnostic) }
            let storage = entity.relationships.flatMap { property -> [DeclSyntax] in
                guard let target = property.target else { return [] }
                let rows: DeclSyntax =
                    "\(raw: entity.access)var \(raw: property.storage) = SyncCore.RelatedRows<\(raw: target.type)>()"
                guard !target.isToMany, !entity.names.contains(property.keyColumn) else { return [rows] }
                return [
                    rows,
                    """
                    /// The key of the row that `\(raw: property.name)` leads to.
                    \(raw: entity.access)var \(raw: property.keyName): \(raw: target.type).SyncKey?
                    """,
                ]
            }
            return storage + EntityCodeGenerator(entity).members.map { DeclSyntax(stringLiteral: $0) }
        }

        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard let entity = EntityDeclaration(declaration, node) else { return [] }
            let code = EntityCodeGenerator(entity).conformance
            // Under a default isolation the conformance keeps the type nonisolated, but not the members of an
            // extension.
            return try [
                ExtensionDeclSyntax("nonisolated extension \(type.trimmed): SyncSQLite.EntityRecord \(raw: code)")
            ]
        }
    }

    /// A macro without expansion. It marks a property for `@Entity`.
    struct MarkerMacro: PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] { [] }
    }

    /// The macro `@Relationship`. The property's accessors use the storage that `@Entity` adds, so that types can
    /// reference each other.
    struct RelationshipMacro: AccessorMacro {
        static func expansion(
            of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [AccessorDeclSyntax] {
            guard let variable = declaration.as(VariableDeclSyntax.self),
                let property = EntityProperty(variable), let target = property.target
            else { return [] }
            let storage = property.storage
            if target.isToMany {
                return ["get { \(raw: storage).rows ?? [] }", "set { \(raw: storage).rows = newValue }"]
            }
            return [
                "get { \(raw: storage).rows?.first }",
                """
                set {
                    \(raw: storage).rows = newValue.map { [$0] } ?? []
                    \(raw: property.keyName) = newValue?.syncKey
                }
                """,
            ]
        }
    }
#endif
