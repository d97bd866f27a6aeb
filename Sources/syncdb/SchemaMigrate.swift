import ArgumentParser
import Foundation
import Sync

/// `syncdb schema migrate`: brings a database to another model.
struct SchemaMigrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring a database to another model, and keep that.",
        discussion: """
            Adds, renames (renamedFrom), widens and removes entities, attributes and relationships, in one transaction. \
            What the new model has no place for is listed, and nothing is changed unless --allow-loss says so.

            Example: syncdb schema migrate --database app.sqlite --model new.json --dry-run
            """)

    @OptionGroup var location: DatabaseOptions

    @Option(help: ArgumentHelp("The new model.", valueName: "file"), completion: Completions.model)
    var model: String

    @Flag(help: "Lose what the new model has no place for.")
    var allowLoss = false

    @Flag(help: "Show what would change and what would be lost. Writes nothing.")
    var dryRun = false

    @Flag(help: "Print the changes and losses as JSON.")
    var json = false

    @OptionGroup var color: ColorOptions

    func run() throws {
        let model = try Model.file(model)
        try location.open().close()
        let report = try DataStack.migration(to: model, at: location.url)
        let isRefused = !report.losses.isEmpty && !allowLoss && !dryRun
        if !dryRun && !isRefused {
            try DataStack(model: model, at: location.url, migration: allowLoss ? .allowingLoss : .keepingData).close()
        }
        Terminal.write(try json ? ResultJSON.text(report) : text(report))
        if isRefused {
            throw SyncError(.modelMismatch, "nothing was changed; --allow-loss would lose what is marked with -")
        }
    }

    private func text(_ report: MigrationReport) -> String {
        let style = color.style
        let changes = report.changes.map { style.yellow("~") + " \($0.path): \($0.message)" }
        let losses = report.losses.map { style.red("-") + " \($0.path): \($0.message)" }
        return changes.isEmpty && losses.isEmpty ? "nothing to change" : (changes + losses).joined(separator: "\n")
    }
}
