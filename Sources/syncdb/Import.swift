import ArgumentParser
import Foundation
import Sync

/// The command `syncdb import`, which inserts, updates and deletes rows so that an entity matches the JSON.
struct Import: AsyncParsableCommand, PayloadCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Insert, update and delete rows so that an entity matches JSON.",
        discussion: """
            Nested records are synced too. A file is imported in one transaction: completely, or not at all. 'syncdb diff' \
            with the same arguments shows the changes in advance.

            Several files are pages of one list. Each page is imported in its own transaction. Rows that no page lists are \
            deleted at the end, if every page was imported. With --delta, the files are applied one after the other.

            A single object instead of a list deletes no other row, unless --where or --parent sets the scope. It is an error \
            if no record has a primary key, or if the file is empty.

            Without --model, a new database gets a model inferred from the JSON. With --evolve, a later import adds new \
            entities, new keys and wider types to the model.

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

    @Flag(help: "Print the result of the import without writing anything.")
    var dryRun = false

    @Flag(
        help: """
            Import into the tables that another program created, with a --model from 'syncdb schema introspect'. Adds the tables \
            sync_model and sync_pending; later imports need neither option.
            """)
    var existingTables = false

    @Flag(help: "Also print one line per row with its values, like 'diff'.")
    var verbose = false

    @Option(
        help: ArgumentHelp(
            "Read JSON of at most this size as a whole, which is faster and needs three times its size in memory. Larger JSON is "
                + "read in chunks and usually needs less than 250 MB. With --json, --verbose or an inferred model, memory grows with the JSON.",
            valueName: "size"))
    var wholeUpTo = ByteCount(bytes: 64 << 20)

    @Option(
        name: [.customLong("chunk-size"), .customLong("piece-size")],
        help: ArgumentHelp("The size of a chunk of JSON that is not read as a whole.", visibility: .hidden))
    var chunkSize = ByteCount(bytes: SyncOptions().chunkSize)

    func validate() throws {
        try payload.validate()
        if verbose && output.quiet { throw ValidationError("--verbose and --quiet cannot be used together") }
        guard existingTables else { return }
        if changes.model == nil { throw ValidationError("--existing-tables needs --model") }
        if dryRun || changes.evolve || changes.allowLoss {
            throw ValidationError("--existing-tables cannot be used with --dry-run, --evolve and --allow-loss")
        }
    }

    func run() async throws {
        guard !dryRun else { return try await compare() }
        let payloads = try output.read(payload, wholeUpTo: store.readsModelFromPayload ? nil : wholeUpTo)
        let written = CommittedFiles()
        let (result, model) = try await written.addingCommittedFiles {
            try await Interruption.cancelling(
                outcome: written.isEmpty ? "nothing was written" : "only a part was written"
            ) {
                try await location.exists
                    ? importIntoExisting(payloads, written) : importIntoNew(payloads)
            }
        }
        do {
            try output.show(result, of: model, withRows: verbose)
        } catch var error as SyncError {
            error.message += ", but the import succeeded"
            throw error
        }
        if !output.quiet { model.warnAboutMissingTransformers() }
        if !output.quiet { store.suggestEvolving(model, after: result, payloads, as: payload) }
    }

    private func compare() async throws {
        let comparison = DryRun(payload: payload, store: store, output: output, withRows: verbose)
        _ = try await comparison.show(output.read(payload))
        if !output.quiet { Terminal.writeError("note: --dry-run: nothing was written") }
    }

    /// - Throws: An error if the model of the database does not have an entity of the payload, with a hint if the name
    ///   is not similar to one of the model.
    private func requireEntities(in model: SyncModel) throws {
        let known = model.entities.map(\.name)
        for name in payload.entities.isEmpty ? [payload.entity] : payload.entities.values.sorted() {
            do {
                _ = try model.compiled.entity(named: name)
            } catch let error as SyncError where payload.canEvolve && SimilarName.nearest(to: name, among: known) == nil
            {
                throw HintedError(error: error, hint: "use --evolve to add the entities of the JSON to the model")
            }
        }
    }

    private func importIntoExisting(
        _ payloads: [Payload], _ written: CommittedFiles
    ) async throws -> (SyncResult, SyncModel) {
        if existingTables, let model = try store.givenModel() {
            try DataStack.prepareExistingTables(of: model, at: location.url)
        }
        guard changes.model != nil && !existingTables || changes.evolve else {
            let stack = try DataStack(at: location.url, transformers: .optional)
            try requireEntities(in: stack.model)
            try key.check(payload.entity, in: stack.model)
            return try await sync(payloads, into: stack, written)
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
        let stack = try migratedStack(to: chosen.model)
        let outcome = try await sync(payloads, into: stack, written)
        chosen.announce()
        return outcome
    }

    /// Opens the database and migrates it to the model. If `--allow-loss` lets the migration lose data, prints what it
    /// lost.
    private func migratedStack(to model: SyncModel) throws -> DataStack {
        var losses: [SyncDiagnostic] = []
        if changes.allowLoss {
            do {
                return try DataStack(
                    model: model, at: location.url, migration: .keepingData, transformers: .optional)
            } catch let error as SyncError where error.code == .modelMismatch {
                losses = error.problems.filter { $0.kind == .dataLoss }
            }
        }
        let stack = try DataStack(
            model: model, at: location.url, migration: changes.migration, transformers: .optional)
        if !output.quiet {
            let lines = TruncatedList(losses, upTo: list.limit).lines(
                {
                    let loss = $0.message.replacingOccurrences(of: " would be lost", with: "")
                    return "note: migrated; lost: \($0.path): \(loss)"
                }, hint: "use --all to list them")
            for line in lines { Terminal.writeError(line) }
        }
        return stack
    }

    private func importIntoNew(_ payloads: [Payload]) async throws -> (SyncResult, SyncModel) {
        if existingTables { throw UsageError("there is no database '\(location.database)' with tables") }
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
        options.chunkSize = chunkSize.bytes
        let before = output.quiet ? nil : try await stack.pendingChangeCounts()
        let result = try await output.withProgress(options) {
            try await payload.sync(payloads, into: stack, options: $0, written)
        }
        // The import is committed, so an error of this read is ignored.
        if let before, let after = try? await stack.pendingChangeCounts() {
            notePendingChanges(from: before, to: after)
        }
        return (result, stack.model)
    }

    /// Prints a note if the import added pending changes, which the next sync with a service sends.
    private func notePendingChanges(from before: PendingChangeCounts, to after: PendingChangeCounts) {
        let deletions = max(0, after.deletions - before.deletions)
        let changes = max(after.changes - before.changes, deletions)
        guard changes > 0 else { return }
        let among = deletions == 0 ? "" : " (\(CountText.count(deletions, "deletion")))"
        Terminal.writeError(
            "note: this database is synced with a service; the next sync sends \(CountText.count(changes, "change"))\(among) of this import"
        )
    }
}

extension PayloadOptions {
    /// Syncs the payloads. Several payloads are pages of one snapshot, or successive deltas with `--delta`.
    ///
    /// - Parameters:
    ///   - options: The options of the sync. They may request more detail than the options of the command.
    ///   - written: The collection to which the sync adds each payload after its commit.
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

    /// Plans the sync. Several payloads, or a payload that is read in chunks, are written to the store, so the store
    /// must then be temporary.
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
    func addingCommittedFiles<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            let names = self.names.value
            guard !names.isEmpty else { throw error }
            let list = TruncatedList(names.map { "\($0)" as TerminalText }).text(between: ", ")
            throw AnnotatedError(
                error: error,
                note:
                    "note: \(list) \(names.count == 1 ? "was" : "were") imported before the error; no omitted rows were deleted"
            )
        }
    }
}
