import ArgumentParser
import Foundation
import Sync

/// The command `syncdb schema migrate`, which migrates a database to another model.
struct SchemaMigrate: ParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring a database to another model, and keep that.",
        discussion: """
            Adds, renames (renamedFrom), widens and removes entities, attributes and relationships, in one transaction. \
            What the new model has no place for is listed, and nothing is changed unless --allow-loss says so.

            Example: syncdb schema migrate -d app.sqlite --model new.json --dry-run
            """)

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @Option(help: ArgumentHelp("The new model.", valueName: "file"), completion: Completions.model)
    var model: String

    @Flag(help: "Lose what the new model has no place for.")
    var allowLoss = false

    @Flag(help: "Show what would change and what would be lost. Writes nothing.")
    var dryRun = false

    @Flag(help: "Print the changes and losses as JSON.")
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [model], database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    func run() throws {
        let model = try SyncModel.file(model)
        try location.open().close()
        let report = try DataStack.migration(to: model, at: location.url)
        let isRefused = !report.losses.isEmpty && !allowLoss && !dryRun
        if !dryRun && !isRefused {
            try DataStack(
                model: model, at: location.url, migration: allowLoss ? .allowingLoss : .keepingData,
                transformers: .optional
            ).close()
        }
        try json ? Terminal.write(json: ResultJSON.text(report)) : Terminal.write(text(report))
        if isRefused {
            throw SyncError(.modelMismatch, "nothing was changed; --allow-loss would lose what is marked with -")
        }
    }

    private func text(_ report: MigrationReport) -> TerminalText {
        let style = color.style
        let changes = lines(report.changes, style.yellow("~"))
        let losses = lines(report.losses, style.red("-"))
        return changes.isEmpty && losses.isEmpty ? "nothing to change" : (changes + losses).joined(separator: "\n")
    }

    private func lines(_ problems: [SyncDiagnostic], _ sign: TerminalText) -> [TerminalText] {
        TruncatedList(problems, upTo: list.limit).lines(
            { "\(sign) \($0.path): \($0.message)" }, hint: "--all lists them")
    }
}

/// The command `syncdb schema adopt`, which derives a schema file from existing tables.
struct SchemaAdopt: AsyncParsableCommand, InputCommand {
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
            throw SyncError(.cannotOpenStore, "there is no database '\(database)'")
        }
        let adopted = try AdoptedModel(at: URL(argument: database), tables: table)
        if !quiet {
            for remark in adopted.remarks { Terminal.writeError(TerminalText(lines: "note: \(remark)")) }
        }
        try await adopted.model.write(to: output, besides: inputs)
    }
}
