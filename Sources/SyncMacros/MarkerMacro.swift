#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// Says something of a property, which `@Entity` reads.
    struct MarkerMacro: PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] { [] }
    }
#endif
