import ArgumentParser
import Foundation
import Sync

/// `syncdb schema show`: the entities of a model.
struct SchemaShow: ParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the model a database keeps, or that of a file.",
        discussion: "Example: syncdb schema show -d app.sqlite")

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Flag(help: "Print the model as a schema file.")
    var json = false

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: WaitingTime? { source.busyTimeout }

    func run() throws {
        let model = try source.loaded()
        if json { return try Terminal.write(json: model.schemaText()) }
        try Terminal.write(ModelPrinter(model: model, style: color.style).text)
    }
}
