import ArgumentParser

/// Of which entities of a configuration a command is.
struct ChosenEntities: ParsableArguments {
    @Option(help: ArgumentHelp("Only this entity. May be repeated.", valueName: "entity"))
    var only: [String] = []

    /// Nil for all.
    var names: [String]? { only.isEmpty ? nil : only }
}
