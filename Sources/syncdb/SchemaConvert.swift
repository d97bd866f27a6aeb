import ArgumentParser
import Foundation
import Sync

/// `syncdb schema convert`: any model as a schema file.
struct SchemaConvert: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a Core Data model, or a schema file, as a schema file.",
        discussion: "Example: syncdb schema convert App.xcdatamodeld --output model.json")

    @Argument(help: "The model: .xcdatamodel, .xcdatamodeld or .json.", completion: Completions.model)
    var model: String

    @Option(help: ArgumentHelp("Where to write it. (default: standard output)", valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    func run() throws {
        try Model.file(model).write(to: output)
    }
}

extension Model {
    /// Writes the model as a schema file; nil is standard output.
    func write(to output: String?) throws {
        let text = try schemaText()
        guard let output else { return try Terminal.write(json: text) }
        do {
            try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw SyncError(.unreadableFile, "cannot write '\(output)'", underlying: error.localizedDescription)
        }
    }

    /// The schema file's text, without the line break at its end.
    func schemaText() throws -> String {
        var text = String(decoding: schemaFile(), as: UTF8.self)
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
