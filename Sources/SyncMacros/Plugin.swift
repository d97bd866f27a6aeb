#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The compiler plugin with the macros of the package.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [EntityMacro.self, RelationshipMacro.self, MarkerMacro.self]
    }
#else
    /// Without the trait there are no macros, but SwiftPM builds the target nevertheless.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
