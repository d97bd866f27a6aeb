#if Macros
    import SwiftCompilerPlugin
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxBuilder
    import SwiftSyntaxMacros

    /// The macro `@Entity`. It adds members to a struct, such as the storage of relationships, and conforms the struct
    /// to `EntityRecord`.
    struct EntityMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
        ) throws -> [AttributeSyntax] {
            // The declaration is read last, because the compiler calls this method for each member.
            guard let property = member.as(VariableDeclSyntax.self).flatMap(EntityProperty.init), property.isTracked,
                EntityDeclaration(declaration, node)?.tracksEdits == true
            else { return [] }
            return ["@TrackedProperty"]
        }

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
                    /// The key of the row that `\(raw: property.name)` references.
                    \(raw: entity.access)var \(raw: property.keyName): \(raw: target.type).SyncKey? {
                        didSet { syncFetchedRow.recordEdit() }
                    }
                    """,
                ]
            }
            let initializer = MemberwiseInitializer(entity).code.map { [DeclSyntax(stringLiteral: $0)] } ?? []
            return storage + initializer + EntityCodeGenerator(entity).members.map { DeclSyntax(stringLiteral: $0) }
        }

        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard let entity = EntityDeclaration(declaration, node) else { return [] }
            let code = EntityCodeGenerator(entity).conformance
            // If the module has a default isolation, a nonisolated conformance does not make the members of an
            // extension nonisolated.
            return try [
                ExtensionDeclSyntax("nonisolated extension \(type.trimmed): SyncSQLite.EntityRecord \(raw: code)")
            ]
        }
    }

    /// The implementation of all macros that only mark a property for `@Entity`, such as `@RemoteKey`. It adds no code.
    struct MarkerMacro: PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] { [] }
    }

    /// The macro `@Relationship`. It adds accessors that use the storage that `@Entity` adds. That storage holds an
    /// array, so types can contain each other.
    struct RelationshipMacro: AccessorMacro {
        static func expansion(
            of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [AccessorDeclSyntax] {
            guard let variable = declaration.as(VariableDeclSyntax.self),
                let property = EntityProperty(variable)
            else { return [] }
            guard let target = property.target else {
                // `@Entity` reports the property. Accessors keep the compiler from reporting it too.
                let type = context.lexicalContext.first?.as(StructDeclSyntax.self)
                let isReported = type?.attributes.contains { $0.as(AttributeSyntax.self)?.macroName == "Entity" }
                return isReported == true ? ["get { Swift.fatalError() }", "set {}"] : []
            }
            let storage = property.storage
            if target.isToMany {
                return [
                    "get { \(raw: storage).rows ?? [] }",
                    """
                    set {
                        \(raw: storage).rows = newValue
                        syncFetchedRow.recordEdit()
                    }
                    """,
                ]
            }
            return [
                "get { \(raw: storage).row(withKey: \(raw: property.keyName)) }",
                """
                set {
                    \(raw: storage).rows = newValue.map { [$0] } ?? []
                    \(raw: property.keyName) = newValue?.syncKey
                    syncFetchedRow.recordEdit()
                }
                """,
            ]
        }
    }

    /// The macro `@TrackedProperty`, which `@Entity` adds to the properties of a struct. It records each edit of the
    /// property.
    struct TrackedPropertyMacro: AccessorMacro {
        static func expansion(
            of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [AccessorDeclSyntax] { ["didSet { syncFetchedRow.recordEdit() }"] }
    }

    // MARK: - Plugin

    /// The compiler plugin with the macros of the package.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            EntityMacro.self, RelationshipMacro.self, TrackedPropertyMacro.self, MarkerMacro.self,
        ]
    }
#else
    /// A program that does nothing: without the trait `Macros` there are no macros, but SwiftPM still builds the
    /// target.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
