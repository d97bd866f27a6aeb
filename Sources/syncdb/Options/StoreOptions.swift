import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The database of a payload, and the model of a new database.
struct StoreOptions {
    let location: DatabaseOptions
    let changes: ModelOptions
    let key: KeyOptions

    /// Whether the model depends on the complete JSON.
    var readsModelFromPayload: Bool { get throws { try changes.evolve || (changes.model == nil && !location.exists) } }

    /// Returns the inputs of a command, including payloads.
    func inputs(with payloads: [String]) -> CommandInputs {
        CommandInputs(files: payloads + (changes.model.map { [$0] } ?? []), database: location.database)
    }

    /// Returns the model that the command line names; nil if there is none.
    func givenModel() throws -> SyncModel? {
        try changes.model.map { try SyncModel.file($0) }
    }

    /// Returns the model for a new database: the given model, or a model that is inferred from the JSON. With
    /// `--evolve`, the JSON extends the given model.
    func modelForNewDatabase(
        _ given: SyncModel?, inferring payloads: [Payload], as options: PayloadOptions, isQuiet: Bool
    ) throws -> ModelSelection {
        if let model = given {
            return try modelForExistingDatabase(model, extendedBy: payloads, as: options, isQuiet: isQuiet)
        }
        guard options.rules.parent == nil else {
            throw UsageError("the database '\(location.database)' does not exist, so it has no row for --parent")
        }
        let samples = samples(payloads, as: options)
        let inferred = try InferredModel(from: samples)
        let model = inferred.model
        if !isQuiet {
            Terminal.writeError(Self.note(model))
            for remark in inferred.notes where key.inferKey && remark.isAboutKey {
                Terminal.writeError("note: \(remark.description)")
            }
        }
        return ModelSelection(model: model)
    }

    /// Returns the payloads that were read completely as samples for inference.
    ///
    /// - Parameter size: The number of bytes of each payload to sample; nil for all.
    private func samples(
        _ payloads: [Payload], as options: PayloadOptions, size: Int? = nil
    ) -> [InferenceSample] {
        payloads.compactMap { payload in
            payload.data.map { data in
                var sample = InferenceSample(
                    data, entity: options.entity, form: payload.format, keyPath: options.options.keyPath.keys,
                    size: size, name: payload.name)
                key.apply(to: &sample)
                sample.keyedBy = options.layout.names
                sample.entities = options.entities
                return sample
            }
        }
    }

    // MARK: Model evolution

    /// Returns the model for an existing database. With `--evolve`, the JSON extends the model.
    ///
    /// - Parameters:
    ///   - model: The given or the stored model.
    ///   - stack: The database; nil if it is not open.
    func modelForExistingDatabase(
        _ model: SyncModel, extendedBy payloads: [Payload], as options: PayloadOptions, isQuiet: Bool,
        of stack: DataStack? = nil
    ) throws -> ModelSelection {
        if stack != nil { try key.check(options.entity, in: model) }
        guard changes.evolve else { return ModelSelection(model: model) }
        guard options.canEvolve else {
            throw UsageError("--evolve does not read JSON:API documents; name the new --model instead")
        }
        let found = try ModelEvolution(of: model, by: samples(payloads, as: options)) { entity, attribute in
            // The database has no values for an attribute that its model does not have.
            guard let stack,
                stack.model.entity(named: entity)?.attributes.contains(where: { $0.name == attribute }) == true
            else { return false }
            return try stack.count(entity, where: !RowPredicate(isNil: attribute)) > 0
        }
        let notes = isQuiet ? [] : TruncatedList(found.notes).lines({ "evolved: \($0)" }, hint: nil)
        return ModelSelection(model: found.model, notes: notes)
    }

    /// The number of bytes of JSON to sample for the suggestion of `--evolve`. A small sample keeps the suggestion
    /// fast.
    private static let glance = 32 << 10

    /// Prints a note about the additions of `--evolve`, if the model cannot store a part of the JSON.
    func suggestEvolving(
        _ model: SyncModel, after result: SyncResult, _ payloads: [Payload], as options: PayloadOptions
    ) {
        let hasMisfits = result.diagnostics.contains { $0.kind == .typeMismatch }
        guard options.canEvolve, !changes.evolve, !result.unmappedKeys.isEmpty || hasMisfits,
            payloads.allSatisfy({ $0.data != nil })
        else {
            return
        }
        let size = Self.glance / max(1, payloads.count)
        let isWhole = payloads.allSatisfy { ($0.data?.count ?? 0) <= size }
        let found = try? ModelEvolution(of: model, by: samples(payloads, as: options, size: size))
        let additions = found?.notes ?? []
        guard !additions.isEmpty else {
            if !isWhole { Terminal.writeError("note: use --evolve to add unmapped keys and wider types to the model") }
            return
        }
        let added = TruncatedList(additions.map { "\($0)" as TerminalText }).text(between: "; ")
        Terminal.writeError("note: --evolve would add \(added)" + (isWhole ? "" : " (from the first records)"))
    }

    private static func note(_ model: SyncModel) -> TerminalText {
        "note: no --model: inferred \(TruncatedList(model.entities.map(\.name)).text) from the JSON; 'syncdb schema infer' lists the guesses"
    }
}

/// The options for the database of a command.
struct DatabaseOptions: ParsableArguments {
    @Option(name: NamedDatabase.name, help: NamedDatabase.help, completion: Completions.database)
    var given: String?

    @Option(help: NamedDatabase.timeoutHelp)
    var busyTimeout: TimeoutArgument?

    private var path: String? { given ?? NamedDatabase.ofEnvironment }

    /// The path of the database. `validate` checks that it is given.
    var database: String { path ?? "" }

    var url: URL { URL(argument: database) }

    /// Whether the file exists and is not empty. Programs such as `mktemp` create empty files.
    var exists: Bool {
        get throws {
            guard let status = try FileStatus.ofDatabase(at: database) else { return false }
            return !status.isRegular || status.size > 0
        }
    }

    /// Opens the database read-only, with its stored model.
    func open() throws -> DataStack { try .existing(at: database) }

    func validate() throws {
        if path == nil {
            throw ValidationError(
                "Missing expected argument '--database <db>'; give it, or set \(NamedDatabase.variable) in the environment"
            )
        }
    }
}

/// The option `--database`, its environment variable, and the option for the lock timeout.
///
/// They are not a group of options, because nested groups are slow. In a debug build, the argument parser checks a
/// group four times as often at each level of nesting.
enum NamedDatabase {
    static let variable = "SYNCDB_DATABASE"

    static var name: NameSpecification { [.customShort("d"), .customLong("database")] }
    static var help: ArgumentHelp {
        ArgumentHelp("The SQLite database. (default: the environment variable \(variable))", valueName: "db")
    }
    static var timeoutHelp: ArgumentHelp {
        ArgumentHelp(
            "The time to wait for a database that another process has locked: milliseconds, or with a unit such as 30s or "
                + "2m. (default: 5s)", valueName: "time")
    }

    static var ofEnvironment: String? {
        let path = ProcessInfo.processInfo.environment[variable]
        return path?.isEmpty ?? true ? nil : path
    }
}

/// The model of a file or of a database, for commands that need one of the two.
struct ModelOrDatabase: ParsableArguments {
    @Option(
        help: ArgumentHelp("The model: a schema file (.json) or a Core Data model.", valueName: "file"),
        completion: Completions.model)
    var model: String?

    @Option(name: NamedDatabase.name, help: NamedDatabase.help, completion: Completions.database)
    var given: String?

    @Option(help: NamedDatabase.timeoutHelp)
    var busyTimeout: TimeoutArgument?

    /// The path of the database; nil if there is none. If the command line names a model, the environment variable has
    /// no effect.
    var database: String? { model == nil ? given ?? NamedDatabase.ofEnvironment : given }

    func validate() throws {
        if (model == nil) == (database == nil) {
            throw ValidationError(
                "give either --model or --database (or \(NamedDatabase.variable) in the environment)")
        }
    }

    /// Reads the model from the file or the database.
    func loaded() throws -> SyncModel {
        if let model { return try SyncModel.file(model) }
        return try DataStack.existing(at: database ?? "").model
    }
}

/// The model for the database of a payload, and the options for its migration and evolution.
struct ModelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The model: a schema file (.json) or a Core Data model (.xcdatamodel, .xcdatamodeld). Without it, the first "
                + "import infers a model, and later imports use the model of the database.",
            valueName: "file"), completion: Completions.model)
    var model: String?

    @Flag(help: "Accept the loss of data that the new --model cannot store.")
    var allowLoss = false

    var migration: MigrationPolicy { allowLoss ? .allowingDataLoss : .keepingData }

    @Flag(
        help: "Add new entities, new keys and wider types of the JSON to the model of the database. Removes nothing.")
    var evolve = false
}

/// The model that a command chose for a database.
struct ModelSelection {
    let model: SyncModel
    /// Notes about what the JSON added to the model, one for each line.
    var notes: [TerminalText] = []

    /// Prints the notes. Call it after the migration of the database, because the notes are true only then.
    func announce() {
        for line in notes { Terminal.writeError(line) }
    }
}

/// A database that exists only after its first import has succeeded.
///
/// The import writes a temporary file and moves it into place. Therefore neither an error nor a crash leaves an empty
/// database. A database that another process creates at the same time is not overwritten.
struct NewDatabase {
    let url: URL

    init(at url: URL) { self.url = url }

    /// Calls a closure that fills the empty store, then publishes the database.
    func fill<Result>(_ model: SyncModel, _ body: (DataStack) async throws -> Result) async throws -> Result {
        let draft = try StagedStoreFile(for: url)
        defer { draft.remove() }
        let stack = try DataStack(model: model, in: draft)
        let result = try await body(stack)
        try stack.close()
        guard try draft.publish() else {
            throw SyncError(
                .databaseError, "another process created '\(url.path)' at the same time; nothing was written to it")
        }
        return result
    }
}

extension FileStatus {
    /// Returns the status of a database file; nil if it does not exist. The path is not converted to a URL, which would
    /// drop a trailing slash and turn an empty path into the current folder.
    ///
    /// - Throws: ``SyncError`` `cannotOpenStore` if the path cannot be the path of a database.
    static func ofDatabase(at path: String) throws -> FileStatus? {
        do {
            if let status = try FileStatus.find(path) { return status }
            _ = try ResolvedPath(path)
        } catch let failure where failure.code != ENOENT || path.isEmpty {
            throw SyncError(.cannotOpenStore, "cannot open the database '\(path)'", underlying: failure.message)
        } catch {
            // The folder is missing.
        }
        return nil
    }
}

extension DataStack {
    /// Opens a database read-only, with its stored model.
    static func existing(at path: String) throws -> DataStack {
        guard try FileStatus.ofDatabase(at: path) != nil else {
            throw SyncError(.cannotOpenStore, "there is no database '\(path)'; 'syncdb import' creates one")
        }
        return try DataStack(reading: URL(argument: path), transformers: .optional)
    }
}

extension SyncModel {
    /// Reads the model from a file that the command line names.
    static func file(_ path: String) throws -> SyncModel {
        do {
            // A URL drops a trailing slash, so the command could read another file than it has checked.
            guard try FileStatus.find(path) != nil else {
                throw SyncError(.unreadableFile, "no model file at '\(path)'")
            }
            return try SyncModel(contentsOf: URL(argument: path))
        } catch let error as SyncError {
            throw error.naming(path)
        } catch let failure as SystemError {
            throw SyncError(.unreadableFile, "cannot read '\(path)'", underlying: failure.message)
        }
    }
}
