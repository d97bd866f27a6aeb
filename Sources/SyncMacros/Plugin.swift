#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The macros of the package, as the compiler loads them.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [EntityMacro.self, RelationshipMacro.self, MarkerMacro.self]
    }
#else
    /// Without the trait there are no macros; SwiftPM builds the target all the same.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
