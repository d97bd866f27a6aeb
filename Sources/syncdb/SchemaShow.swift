import ArgumentParser
import Foundation
import Sync

/// `syncdb schema show`: the entities of a model.
struct SchemaShow: ParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the model a database keeps, or that of a file.",
        discussion: "Example: syncdb schema show --database app.sqlite")

    @Option(help: ArgumentHelp("The SQLite database.", valueName: "db"), completion: Completions.database)
    var database: String?

    @Option(
        help: ArgumentHelp("A schema file (.json) or a Core Data model.", valueName: "file"),
        completion: Completions.model)
    var model: String?

    @Flag(help: "Print the model as a schema file.")
    var json = false

    @OptionGroup var color: ColorOptions

    func validate() throws {
        if (database == nil) == (model == nil) { throw ValidationError("give either --database or --model") }
    }

    var inputs: CommandInputs { CommandInputs(files: model.map { [$0] } ?? [], database: database) }

    func run() throws {
        let model = try loadedModel()
        if json { return try Terminal.write(json: model.schemaText()) }
        try Terminal.write(ModelPrinter(model: model, style: color.style).text)
    }

    private func loadedModel() throws -> Model {
        if let database { return try DataStack.existing(at: database).model }
        return try Model.file(model ?? "")
    }
}
