import ArgumentParser
import Foundation
import Sync

/// The command `syncdb diff`, which shows the changes that `import` would make.
struct Diff: AsyncParsableCommand, PayloadCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what 'import' with the same arguments would change. Writes nothing.",
        discussion: """
            Prints one line per row with its values: + inserted, ~ updated, - deleted. Links of many-to-many relationships \
            follow. Without a database, compares the JSON with an empty one.

            Example: syncdb diff users.json --entity User -d app.sqlite
            """)

    @OptionGroup(title: "Payload") var records: PayloadFileOptions
    @OptionGroup(title: "Payload") var layout: PayloadFormatOptions
    @OptionGroup(title: "Payload") var rules: SyncRuleOptions

    @OptionGroup(title: "Database") var location: DatabaseOptions
    @OptionGroup(title: "Database") var changes: ModelOptions
    @OptionGroup(title: "Database") var key: KeyOptions

    @OptionGroup(title: "Output") var result: ResultOptions
    @OptionGroup(title: "Output") var list: ListOptions
    @OptionGroup(title: "Output") var color: ColorOptions

    @Flag(
        help: ArgumentHelp(
            "Exit with 0 if nothing would change, 1 if something would, 2 on an error, 3 if the import would exceed the "
                + "deletion limit."))
    var exitCode = false

    func validate() throws { try payload.validate() }

    func run() async throws {
        do {
            let comparison = DryRun(payload: payload, store: store, output: output, withRows: true)
            let result = try await comparison.show(output.read(payload))
            if exitCode, result.changesSomething { throw ExitCode(ExitStatus.failed.rawValue) }
        } catch let error where exitCode && ExitStatus(error) == .failed && !(error is ExitCode) {
            throw CommandFailure(error: error)
        }
    }
}

/// An error of a command for which exit code 1 has another meaning.
struct CommandFailure: LocalizedError {
    let error: any Error

    var errorDescription: String? { error.localizedDescription }
}

extension SyncResult {
    /// Whether rows or links change.
    fileprivate var changesSomething: Bool {
        linksAdded > 0 || linksRemoved > 0
            || entities.values.contains { $0.insertedCount + $0.updatedCount + $0.deletedCount > 0 }
    }
}

/// A sync that writes nothing, for `diff` and `import --dry-run`.
struct DryRun {
    let payload: PayloadOptions
    let store: StoreOptions
    let output: OutputOptions
    /// Whether to print a line for each row, with its values.
    let withRows: Bool

    /// Prints the changes, even if they exceed the deletion limit.
    ///
    /// - Throws: ``SyncError`` `deletionLimitExceeded` if an import would exceed the deletion limit.
    func show(_ payloads: [Payload]) async throws -> SyncResult {
        // The file of the model may be a pipe, so it can be read only once.
        let given = try store.givenModel()
        return try await Interruption.cancelling {
            do {
                return try await show(payloads, payload.options, given)
            } catch let error as SyncError where error.code == .deletionLimitExceeded {
                var options = payload.options
                options.deletionLimit = nil
                _ = try await show(payloads, options, given)
                throw error
            }
        }
    }

    private func show(_ payloads: [Payload], _ options: SyncOptions, _ given: SyncModel?) async throws -> SyncResult {
        var options = options
        if withRows, !output.quiet { options.resultDetail = .values }
        let comparison = DryRunStore(store) { kept in
            guard let kept else {
                return try store.modelForNewDatabase(
                    given, inferring: payloads, as: payload, isQuiet: output.quiet)
            }
            return try store.modelForExistingDatabase(
                given ?? kept.model, extendedBy: payloads, as: payload, isQuiet: output.quiet, of: kept)
        }
        return try await comparison.use(writing: payloads.count > 1) { [options] stack, chosen in
            let result = try await output.withProgress(options) {
                try await payload.plan(payloads, against: stack, options: $0)
            }
            chosen.announce()
            try output.show(result, of: stack.model, withRows: withRows)
            if !output.quiet { stack.model.warnAboutMissingTransformers() }
            if !output.quiet { store.suggestEvolving(stack.model, after: result, payloads, as: payload) }
            return result
        }
    }
}

/// The store of a dry run: the database, a copy that the dry run may change, or an empty store if no database exists.
struct DryRunStore {
    private let options: StoreOptions

    private let model: (_ kept: DataStack?) throws -> ModelSelection

    /// Creates the store for a dry run.
    ///
    /// - Parameter model: A closure that returns the model to compare with. Its argument is the database, or nil if
    ///   there is none.
    init(_ options: StoreOptions, model: @escaping (_ kept: DataStack?) throws -> ModelSelection) {
        self.options = options
        self.model = model
    }

    /// Calls a closure with the store and its model. No new files stay on disk.
    ///
    /// - Parameter writing: Whether the closure writes to the store and therefore needs a copy.
    func use<Result>(
        writing: Bool, _ body: (DataStack, ModelSelection) async throws -> Result
    ) async throws -> Result {
        guard try options.location.exists else {
            let chosen = try model(nil)
            return try await body(.inMemory(chosen.model, transformers: .optional), chosen)
        }
        let kept = try options.location.open()
        let chosen = try model(kept)
        guard writing || chosen.model != kept.model else { return try await body(kept, chosen) }
        // Opening the database with a changed model would migrate the database.
        return try await body(kept.copy(with: chosen.model, migration: options.changes.migration), chosen)
    }
}
