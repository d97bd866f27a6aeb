#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxBuilder
    import SwiftSyntaxMacros

    /// Has a property read and write the rows that `@Entity` keeps for it, so that types may refer to each other.
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
