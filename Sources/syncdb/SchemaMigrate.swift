import ArgumentParser
import Foundation
import Sync

/// The command `syncdb schema migrate`, which migrates a database to another model.
struct SchemaMigrate: ParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrate a database to another model.",
        discussion: """
            Adds, renames (if the new model sets renamedFrom), widens and removes entities, attributes and relationships in one \
            transaction. If the migration would lose data, it lists the losses and changes nothing, unless --allow-loss is given.

            Example: syncdb schema migrate -d app.sqlite --model new.json --dry-run
            """)

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @Option(help: ArgumentHelp("The new model.", valueName: "file"), completion: Completions.model)
    var model: String

    @Flag(help: "Accept the loss of data that the new model cannot store.")
    var allowLoss = false

    @Flag(help: "Print the changes and the data losses without writing anything.")
    var dryRun = false

    @Flag(help: "Print the changes and the data losses as JSON.")
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [model], database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    func run() throws {
        let model = try SyncModel.file(model)
        try location.open().close()
        let report = try DataStack.migrationReport(to: model, at: location.url)
        let isRefused = !report.dataLosses.isEmpty && !allowLoss && !dryRun
        if !dryRun && !isRefused {
            try DataStack(
                model: model, at: location.url, migration: allowLoss ? .allowingDataLoss : .keepingData,
                transformers: .optional
            ).close()
        }
        try json ? Terminal.write(json: ResultJSON.text(report)) : Terminal.write(text(report))
        if isRefused {
            throw SyncError(
                .modelMismatch,
                "the migration would lose the data marked with -; nothing was changed; use --allow-loss to accept the loss"
            )
        }
    }

    private func text(_ report: MigrationReport) -> TerminalText {
        let style = color.style
        let changes = lines(report.changes, style.yellow("~"))
        let losses = lines(report.dataLosses, style.red("-"))
        return changes.isEmpty && losses.isEmpty ? "nothing to change" : (changes + losses).joined(separator: "\n")
    }

    private func lines(_ problems: [SyncDiagnostic], _ sign: TerminalText) -> [TerminalText] {
        TruncatedList(problems, upTo: list.limit).lines(
            { "\(sign) \($0.path): \($0.message)" }, hint: "use --all to list them")
    }
}

/// The command `syncdb schema introspect`, which derives a schema file from existing tables.
struct SchemaAdopt: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "introspect",
        abstract: "Derive a schema file from the tables of a database.",
        discussion: """
            Tables become entities, columns attributes, foreign keys relationships with inverses, and join tables (two \
            foreign keys, no other columns) many-to-many relationships. The database is only read. Tables and columns that a sync cannot \
            write to are excluded; standard error gives the reasons and the SQL that fixes them.

            An app opens its database with this model by DataStack(model:existingTablesIn:).

            Example: syncdb schema introspect app.sqlite --table posts --output model.json
            """)

    @Argument(help: "The SQLite database.", completion: Completions.database)
    var database: String

    @Option(
        help: ArgumentHelp(
            "Include only this table. Repeat the option for more tables. (default: all tables)", valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "The output file; a name that ends in .gz is compressed. (default: - for standard output)",
            valueName: "file"
        ),
        completion: .file())
    var output: String?

    @Flag(help: "Do not print the excluded tables and columns.")
    var quiet = false

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [], database: database) }

    func run() async throws {
        guard try FileStatus.ofDatabase(at: database) != nil else {
            throw SyncError(.cannotOpenStore, "there is no database '\(database)'")
        }
        let introspected = try AdoptedModel(at: URL(argument: database), tables: table)
        if !quiet {
            for remark in introspected.notes { Terminal.writeError(TerminalText(lines: "note: \(remark)")) }
        }
        try await introspected.model.write(to: output, besides: inputs)
    }
}

/// The command `syncdb schema adopt`, the former name of `syncdb schema introspect`.
struct FormerSchemaAdopt: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(commandName: "adopt", shouldDisplay: false)

    @OptionGroup var command: SchemaAdopt

    var inputs: CommandInputs { command.inputs }

    func run() async throws { try await command.run() }
}
