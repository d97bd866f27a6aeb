import ArgumentParser
import Sync

/// `syncdb export`: rows of an entity as JSON.
struct Export: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write rows of an entity as JSON that imports again.",
        discussion: "Example: syncdb export User --database app.sqlite --where 'age >= 18' --output users.json")

    @Argument(help: "The entity. Rows of its sub-entities are its rows too.", completion: Completions.entity)
    var entity: String

    @OptionGroup var location: DatabaseOptions

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var form: ExportFormOptions

    @Flag(help: "Write one record a line instead of an array.")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "Write one object, {\"AD\": {…}, \"AE\": {…}}, with the values of this attribute as names. "
                + "(Without it in the records.)",
            valueName: "attribute"))
    var keyedBy: String?

    @Flag(help: "The same, with the primary keys as names.")
    var keyed = false

    @Option(
        help: ArgumentHelp(
            "Where to write it; a file is there, or gets its new contents, when they are complete. "
                + "(default, and -: standard output)",
            valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }

    func validate() throws {
        if keyed, keyedBy != nil { throw ValidationError("--keyed and --keyed-by exclude each other") }
        if ndjson, options.keyedBy != nil { throw ValidationError("--ndjson and --keyed-by exclude each other") }
    }

    private var options: ExportOptions {
        var options = form.options
        options.keyedBy = keyed ? .primaryKey : keyedBy.map { .attribute($0) }
        return options
    }

    func run() async throws {
        let stack = try location.open()
        let predicate = try selection.condition.predicate()
        stack.model.remarkOnMissingTransformers()
        for omission in try stack.model.exportOmissions(of: entity, options: form.options) {
            Terminal.writeError("note: \(omission.description)")
        }
        let options = options
        let destination = try ExportDestination(output, besides: inputs)
        try await destination.write { write in
            try await Interruption.cancelling(outcome: "the output is not complete") {
                try await stack.exportText(
                    entity, as: ndjson ? .ndjson : .json, where: predicate, orderedBy: selection.order,
                    limit: selection.limit, options: options, write: write)
            }
        }
    }
}
