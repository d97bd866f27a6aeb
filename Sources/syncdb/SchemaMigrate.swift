import ArgumentParser
import Foundation
import Sync

/// `syncdb schema migrate`: brings a database to another model.
struct SchemaMigrate: ParsableCommand, ReadingCommand {
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
    var busyTimeout: WaitingTime? { location.busyTimeout }

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

    private func text(_ report: MigrationReport) -> VisibleText {
        let style = color.style
        let changes = lines(report.changes, style.yellow("~"))
        let losses = lines(report.losses, style.red("-"))
        return changes.isEmpty && losses.isEmpty ? "nothing to change" : (changes + losses).joined(separator: "\n")
    }

    private func lines(_ problems: [SyncError.Problem], _ sign: VisibleText) -> [VisibleText] {
        ShortList(problems, upTo: list.limit).lines(
            { "\(sign) \($0.path): \($0.message)" }, hint: "--all lists them")
    }
}
