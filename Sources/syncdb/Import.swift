import ArgumentParser
import Foundation
import Sync

/// The command `syncdb import`, which inserts, updates and deletes rows so that an entity matches the JSON.
struct Import: AsyncParsableCommand, PayloadCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make the rows of an entity what JSON says.",
        discussion: """
            Inserts what is new, updates what differs, deletes what the JSON leaves out, and does the same for nested \
            records: all of it in one transaction, or nothing. 'syncdb diff' with the same arguments shows what will \
            happen.

            Several files are pages of one list: each is written in a transaction of its own, and what none of them \
            mentions is deleted at the end, if all could be read. With --delta they are applied one after the other.

            One object instead of a list says what it is, not what else there is: it deletes no other row, unless --where \
            or --parent says what it speaks for. JSON in which no record has a key, and empty files, are refused.

            Without --model, a new database gets a model inferred from the JSON. With --evolve, what later JSON has \
            beyond the model is added to it.

            Example: syncdb import users.json --entity User --model model.json -d app.sqlite
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

    @Flag(help: "Say what would be done, as 'diff' does, in the form of an import. Writes nothing.")
    var dryRun = false

    @Flag(help: "Print a line per row with its values too, as 'diff' does.")
    var verbose = false

    @Option(
        help: ArgumentHelp(
            "JSON up to this size is read whole, which is faster and takes three times its size in memory. What is larger "
                + "is read in pieces, which takes 250 MB however large it is; but for --json and --verbose, which list "
                + "all rows written, and where the model is inferred.",
            valueName: "size"))
    var wholeUpTo = ByteCount(bytes: 64 << 20)

    @Option(help: ArgumentHelp("The size of a piece of JSON that is not read whole.", visibility: .hidden))
    var pieceSize = ByteCount(bytes: SyncOptions().chunkSize)

    func validate() throws {
        try payload.validate()
        if verbose && output.quiet { throw ValidationError("--verbose and --quiet exclude each other") }
    }

    func run() async throws {
        guard !dryRun else { return try await compare() }
        let payloads = try output.read(payload, wholeUpTo: store.readsModelFromPayload ? nil : wholeUpTo)
        let written = CommittedFiles()
        let (result, model) = try await written.remarking {
            try await Interruption.cancelling(outcome: written.isEmpty ? "nothing was written" : "not all was written")
            {
                try await location.exists
                    ? importIntoExisting(payloads, written) : importIntoNew(payloads)
            }
        }
        do {
            try output.show(result, of: model, withRows: verbose)
        } catch var error as SyncError {
            error.message += ", but the import is done"
            throw error
        }
        if !output.quiet { model.remarkOnMissingTransformers() }
        if !output.quiet { store.suggestEvolving(model, after: result, payloads, as: payload) }
    }

    private func compare() async throws {
        let comparison = DryRun(payload: payload, store: store, output: output, withRows: verbose)
        _ = try await comparison.show(output.read(payload))
        if !output.quiet { Terminal.writeError("note: --dry-run: nothing was written") }
    }

    private func importIntoExisting(
        _ payloads: [Payload], _ written: CommittedFiles
    ) async throws -> (SyncResult, SyncModel) {
        guard changes.model != nil || changes.evolve else {
            return try await sync(payloads, into: DataStack(at: location.url, transformers: .optional), written)
        }
        let given = try store.givenModel()
        let chosen: ModelSelection
        if let given, !changes.evolve {
            chosen = ModelSelection(model: given)
        } else {
            let kept = try location.open()
            chosen = try store.modelForExistingDatabase(
                given ?? kept.model, extendedBy: payloads, as: payload, isQuiet: output.quiet, of: kept)
            try kept.close()
        }
        let stack = try DataStack(
            model: chosen.model, at: location.url, migration: changes.migration, transformers: .optional)
        let outcome = try await sync(payloads, into: stack, written)
        chosen.announce()
        return outcome
    }

    private func importIntoNew(_ payloads: [Payload]) async throws -> (SyncResult, SyncModel) {
        let chosen = try store.modelForNewDatabase(
            store.givenModel(), inferring: payloads, as: payload, isQuiet: output.quiet)
        let outcome = try await NewDatabase(at: location.url).fill(chosen.model) { stack in
            // All payloads are written, or none.
            try await sync(payloads, into: stack, CommittedFiles())
        }
        chosen.announce()
        return outcome
    }

    private func sync(
        _ payloads: [Payload], into stack: DataStack, _ written: CommittedFiles
    ) async throws -> (SyncResult, SyncModel) {
        var options = payload.options
        // The results of several payloads are merged by the keys of their rows.
        let needsKeys = output.json || (payloads.count > 1 && payloads.allSatisfy { $0.data != nil })
        options.resultDetail = verbose ? .values : needsKeys ? .keys : .counts
        options.chunkSize = pieceSize.bytes
        let result = try await output.withProgress(options) {
            try await payload.sync(payloads, into: stack, options: $0, written)
        }
        return (result, stack.model)
    }
}

extension PayloadOptions {
    /// Syncs one payload alone, and several payloads as pages of one snapshot or as successive deltas.
    ///
    /// - Parameters:
    ///   - options: The options of the sync. They may request more detail than the options of the command.
    ///   - written: Collects the payloads that are committed.
    func sync(
        _ payloads: [Payload], into stack: DataStack, options: SyncOptions, _ written: CommittedFiles
    ) async throws -> SyncResult {
        if payloads.count == 1 || rules.delta {
            var results = ResultAccumulator()
            for payload in payloads {
                results.add(try await sync(payload, into: stack, options: options))
                written.add(payload.name)
            }
            return results.merged() ?? SyncResult(entity: entity)
        }
        let run = PagedImport()
        var options = options
        options.payloadKind = .page(of: run)
        for payload in payloads {
            _ = try await sync(payload, into: stack, options: options)
            written.add(payload.name)
        }
        return try await run.finish()
    }

    /// Plans the sync. Several payloads are written, so the store must be temporary.
    func plan(_ payloads: [Payload], against stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        guard let payload = payloads.first, payloads.count == 1, payload.data != nil else {
            return try await sync(payloads, into: stack, options: options, CommittedFiles())
        }
        var options = options
        options.format = payload.format
        return try await SyncError.naming(payload.name) {
            if !entities.isEmpty {
                return try await Sync.plan(
                    payload, inEntities: entities, stack: stack, operations: rules.operations.value, options: options)
            }
            return try await Sync.plan(
                payload, inEntity: entity, stack: stack, predicate: rules.recordPredicate(),
                parent: rules.parent?.parent, operations: rules.operations.value, options: options)
        }
    }

    private func sync(_ payload: Payload, into stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        var options = options
        options.format = payload.format
        return try await SyncError.naming(payload.name) {
            if !entities.isEmpty {
                return try await Sync.changes(
                    payload, inEntities: entities, stack: stack, operations: rules.operations.value, options: options)
            }
            return try await Sync.changes(
                payload, inEntity: entity, stack: stack, predicate: rules.recordPredicate(),
                parent: rules.parent?.parent, operations: rules.operations.value, options: options)
        }
    }
}

/// The committed files of an import of several files. Each file has its own transaction.
final class CommittedFiles: Sendable {
    private let names = Locked<[String]>([])

    func add(_ name: String) { names.withLock { $0.append(name) } }

    var isEmpty: Bool { names.value.isEmpty }

    /// Runs an import. If it fails after some files were committed, the error lists them.
    func remarking<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            let names = self.names.value
            guard !names.isEmpty else { throw error }
            let list = TruncatedList(names.map { "\($0)" as TerminalText }).text(between: ", ")
            throw AnnotatedError(
                error: error,
                remark:
                    "note: \(list) \(names.count == 1 ? "was" : "were") written before that; nothing was deleted for being left out"
            )
        }
    }
}
