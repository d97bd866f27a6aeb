import ArgumentParser
import Foundation
import Sync

/// `syncdb diff`: what `import` would do.
struct Diff: AsyncParsableCommand, ReadingCommand {
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

    var inputs: CommandInputs { store.inputs(with: payload.files) }

    func run() async throws {
        let payloads = try output.read(payload)
        // Once: it may be a pipe.
        let given = try store.givenModel()
        try await Interruption.cancelling {
            do {
                try await show(payloads, payload.options, given)
            } catch let error as SyncError where error.code == .deletionGuard {
                // What the guard refuses is the very thing to look at.
                var options = payload.options
                options.deletionGuard = nil
                try await show(payloads, options, given)
                throw error
            }
        }
    }

    private func show(_ payloads: [Payload], _ options: SyncOptions, _ given: Model?) async throws {
        var options = options
        options.collectsValues = !output.quiet
        let comparison = ComparisonStore(store) { kept in
            guard let kept else {
                return try store.modelForNewDatabase(
                    given, inferring: payloads, as: payload, isQuiet: output.quiet)
            }
            return try store.modelForExistingDatabase(
                given ?? kept, extendedBy: payloads, as: payload, isQuiet: output.quiet)
        }
        try await comparison.use(writing: payloads.count > 1) { [options] stack, chosen in
            let result = try await output.withProgress(options) {
                try await payload.plan(payloads, against: stack, options: $0)
            }
            chosen.announce()
            try output.show(result, of: stack.model, withRows: true)
            if !output.quiet { stack.model.remarkOnMissingTransformers() }
            if !output.quiet { store.suggestEvolving(stack.model, after: result, payloads, as: payload) }
        }
    }
}
