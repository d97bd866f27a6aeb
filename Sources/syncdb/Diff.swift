import ArgumentParser
import Foundation
import Sync

/// `syncdb diff`: what `import` would do.
struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what 'import' with the same arguments would do. Writes nothing.",
        discussion: """
            One line per row: + is new, ~ differs (with what will change), - will be deleted. \
            Without a database, compares with an empty one.

            Example: syncdb diff users.json --entity User --database app.sqlite
            """)

    @OptionGroup var payload: PayloadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let data = try payload.source.read()
        try await ComparisonStore(store).use { stack in
            do {
                try show(await payload.plan(data, against: stack, options: payload.options))
            } catch let error as SyncError where error.code == .deletionGuard {
                try await show(withoutGuard: data, stack)
                throw error
            }
        }
    }

    /// What the guard refuses is the very thing to look at.
    private func show(withoutGuard data: Data, _ stack: DataStack) async throws {
        var options = payload.options
        options.deletionGuard = nil
        try show(await payload.plan(data, against: stack, options: options))
    }

    private func show(_ result: SyncResult) throws {
        guard !output.quiet else { return }
        guard !output.json else { return Terminal.write(try ResultJSON.text(result)) }
        let printer = ResultPrinter(result: result, limit: output.limit)
        let rows = printer.rows
        Terminal.write((rows.isEmpty ? "" : rows + "\n\n") + printer.summary)
    }
}
