import ArgumentParser
import Foundation
import Sync

/// `syncdb diff`: what `import` would do.
struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what 'import' with the same arguments would do. Writes nothing.",
        discussion: """
            One line per row with its values: + is new, ~ differs, - will be deleted; below them the links of \
            many-to-many relationships. \
            Without a database, compares with an empty one.

            Example: syncdb diff users.json --entity User --database app.sqlite
            """)

    @OptionGroup var payload: PayloadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let data = try payload.source.read(unpackingTo: payload.maxSize)
        try await ComparisonStore(store).use { stack in
            do {
                var options = payload.options
                options.collectsValues = !output.quiet
                try show(await payload.plan(data, against: stack, options: options), stack.model)
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
        options.collectsValues = !output.quiet
        try show(await payload.plan(data, against: stack, options: options), stack.model)
    }

    private func show(_ result: SyncResult, _ model: Model) throws {
        try output.show(result, of: model, withRows: true)
    }
}
