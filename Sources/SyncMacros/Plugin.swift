#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The compiler plugin with the macros of the package.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [EntityMacro.self, RelationshipMacro.self, MarkerMacro.self]
    }
#else
    /// A program that does nothing: without the trait `Macros` there are no macros, but SwiftPM still builds the
    /// target.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
