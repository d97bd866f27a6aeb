import ArgumentParser
import Sync

/// `syncdb schema diagram`: a model as a picture.
struct SchemaDiagram: ParsableCommand, ReadingCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case mermaid, dot }

    static let configuration = CommandConfiguration(
        commandName: "diagram",
        abstract: "Draw a model, for Mermaid or Graphviz.",
        discussion: "Example: syncdb schema diagram -d app.sqlite --format dot | dot -Tsvg > model.svg")

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Option(help: "The language of the diagram.")
    var format: Format = .mermaid

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: WaitingTime? { source.busyTimeout }

    func run() throws {
        let diagram = ModelDiagram(model: try source.loaded())
        try Terminal.write(VisibleText(lines: format == .mermaid ? diagram.mermaid : diagram.dot))
    }
}
