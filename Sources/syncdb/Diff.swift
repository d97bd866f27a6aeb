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
        let data = try output.read(payload)
        try await Interruption.cancelling {
            try await ComparisonStore(store).use { stack in try await compare(data, stack) }
        }
    }

    private func compare(_ data: Data, _ stack: DataStack) async throws {
        do {
            try await show(data, stack, payload.options)
        } catch let error as SyncError where error.code == .deletionGuard {
            // What the guard refuses is the very thing to look at.
            var options = payload.options
            options.deletionGuard = nil
            try await show(data, stack, options)
            throw error
        }
    }

    private func show(_ data: Data, _ stack: DataStack, _ options: SyncOptions) async throws {
        var options = options
        options.collectsValues = !output.quiet
        let result = try await output.withProgress(options) {
            try await payload.plan(data, against: stack, options: $0)
        }
        try output.show(result, of: stack.model, withRows: true)
    }
}
