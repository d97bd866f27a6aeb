import ArgumentParser
import Sync

/// `syncdb schema diagram`: a model as a picture.
struct SchemaDiagram: ParsableCommand, ReadingCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case mermaid, dot }

    static let configuration = CommandConfiguration(
        commandName: "diagram",
        abstract: "Draw a model, for Mermaid or Graphviz.",
        discussion: "Example: syncdb schema diagram --database app.sqlite --format dot | dot -Tsvg > model.svg")

    @Option(help: ArgumentHelp("The model.", valueName: "file"), completion: Completions.model)
    var model: String?

    @Option(help: ArgumentHelp("The database whose model to draw.", valueName: "db"), completion: Completions.database)
    var database: String?

    @Option(help: "The language of the diagram.")
    var format: Format = .mermaid

    func validate() throws {
        if (model == nil) == (database == nil) { throw ValidationError("give either --model or --database") }
    }

    var inputs: CommandInputs { CommandInputs(files: model.map { [$0] } ?? [], database: database) }

    func run() throws {
        let found = try model.map { try Model.file($0) } ?? DataStack.existing(at: database ?? "").model
        let diagram = ModelDiagram(model: found)
        try Terminal.write(VisibleText(lines: format == .mermaid ? diagram.mermaid : diagram.dot))
    }
}
