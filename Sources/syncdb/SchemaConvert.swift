import ArgumentParser
import Foundation
import Sync

/// `syncdb schema convert`: any model as a schema file.
struct SchemaConvert: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a Core Data model, or a schema file, as a schema file.",
        discussion: "Example: syncdb schema convert App.xcdatamodeld --output model.json")

    @Argument(help: "The model: .xcdatamodel, .xcdatamodeld or .json.", completion: Completions.model)
    var model: String

    @Option(
        help: ArgumentHelp(
            "Where to write it; a name that ends in .gz is packed. (default, and -: standard output)", valueName: "file"
        ),
        completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [model]) }

    func run() async throws {
        try await SyncModel.file(model).write(to: output, besides: inputs)
    }
}

extension SyncModel {
    /// Writes the model as a schema file.
    ///
    /// - Parameters:
    ///   - output: A path; nil and `-` are standard output.
    ///   - inputs: What the command reads, which is never written over.
    func write(to output: String?, besides inputs: CommandInputs) async throws {
        let text = try schemaText()
        try await ExportDestination(output, besides: inputs).write { write in try write(Data((text + "\n").utf8)) }
    }

    /// The schema file's text, without the line break at its end.
    func schemaText() throws -> String {
        var text = String(decoding: schemaFile(), as: UTF8.self)
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
