import ArgumentParser
import Foundation
import Sync

/// `syncdb schema adopt`: a schema file from the tables of a database.
struct SchemaAdopt: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Write the model of the tables that a database has.",
        discussion: """
            Tables become entities, columns attributes, foreign keys relationships with their inverses, and tables of \
            two foreign keys many-to-many relationships. The database is only read. What a sync could not write to as it \
            is, is left out; standard error says what and why, and which SQL would mend it.

            An app opens its database with that model by DataStack(model:adopting:).

            Example: syncdb schema adopt app.sqlite --table posts --table authors --output model.json
            """)

    @Argument(help: "The SQLite database.", completion: Completions.database)
    var database: String

    @Option(
        help: ArgumentHelp("A table that is wanted; may be given several times. (default: all)", valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where to write it; a name that ends in .gz is packed. (default, and -: standard output)", valueName: "file"
        ),
        completion: .file())
    var output: String?

    @Flag(help: "Do not say what was left out.")
    var quiet = false

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [], database: database) }

    func run() async throws {
        guard try FileStatus.ofDatabase(at: database) != nil else {
            throw SyncError(.unreadableStore, "there is no database '\(database)'")
        }
        let adopted = try AdoptedModel(at: URL(argument: database), tables: table)
        if !quiet {
            for remark in adopted.remarks { Terminal.writeError(VisibleText(lines: "note: \(remark)")) }
        }
        try await adopted.model.write(to: output, besides: inputs)
    }
}
