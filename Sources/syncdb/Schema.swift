import ArgumentParser

/// `syncdb schema`: looks at models.
struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show, convert, infer and change models.",
        subcommands: [
            SchemaShow.self, SchemaConvert.self, SchemaInfer.self, SchemaAdopt.self, SchemaMigrate.self,
            SchemaDiagram.self, SchemaSwift.self,
        ])
}
