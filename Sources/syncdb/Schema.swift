import ArgumentParser

/// `syncdb schema`: looks at models.
struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show the model of a database, or turn a model into a schema file.",
        subcommands: [SchemaShow.self, SchemaConvert.self])
}
