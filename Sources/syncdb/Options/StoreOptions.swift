import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The database a payload goes to, and the model of a new one.
struct StoreOptions {
    let location: DatabaseOptions
    let changes: ModelOptions
    let key: KeyOptions

    /// Whether the model depends on all that the JSON has.
    var readsModelFromPayload: Bool { get throws { try changes.evolve || (changes.model == nil && !location.exists) } }

    /// What a command reads that has these payloads too.
    func inputs(with payloads: [String]) -> CommandInputs {
        CommandInputs(files: payloads + (changes.model.map { [$0] } ?? []), database: location.database)
    }

    /// The model named on the command line, if one is.
    func givenModel() throws -> SyncModel? {
        try changes.model.map { try SyncModel.file($0) }
    }

    /// The model of a database that is not there yet: the given one, or what the JSON looks like.
    func modelForNewDatabase(
        _ given: SyncModel?, inferring payloads: [Payload], as options: PayloadOptions, isQuiet: Bool
    ) throws -> ModelSelection {
        if let model = given {
            return try modelForExistingDatabase(model, extendedBy: payloads, as: options, isQuiet: isQuiet)
        }
        guard options.rules.parent == nil else {
            throw UsageError("there is no database '\(location.database)' yet, so no row can be the --parent")
        }
        let samples = samples(payloads, as: options)
        let inferred = try InferredModel(from: samples)
        let model = inferred.model
        if !isQuiet {
            Terminal.writeError(Self.note(model))
            for remark in inferred.remarks where key.inferKey && remark.isAboutKey {
                Terminal.writeError("note: \(remark.description)")
            }
        }
        return ModelSelection(model: model)
    }

    /// - Parameter size: How much of each is looked at; nil for all.
    private func samples(
        _ payloads: [Payload], as options: PayloadOptions, size: Int? = nil
    ) -> [InferenceSample] {
        payloads.compactMap { payload in
            payload.data.map { data in
                var sample = InferenceSample(
                    data, entity: options.entity, form: payload.form, keyPath: options.options.keyPath, size: size,
                    name: payload.name)
                key.apply(to: &sample)
                sample.keyedBy = options.layout.names
                sample.entities = options.entities
                return sample
            }
        }
    }

    // MARK: Evolving

    /// The model of a database that is there: the given or the kept one, extended if that is asked for.
    ///
    /// - Parameter stack: The database, where it is open.
    func modelForExistingDatabase(
        _ model: SyncModel, extendedBy payloads: [Payload], as options: PayloadOptions, isQuiet: Bool,
        of stack: DataStack? = nil
    ) throws -> ModelSelection {
        guard changes.evolve else { return ModelSelection(model: model) }
        guard options.canEvolve else {
            throw UsageError("--evolve does not read JSON:API documents: give the new --model instead")
        }
        let found = try ModelEvolution(of: model, by: samples(payloads, as: options)) { entity, attribute in
            // What the database does not know has no values in it.
            guard let stack,
                stack.model.entity(named: entity)?.attributes.contains(where: { $0.name == attribute }) == true
            else { return false }
            return try stack.count(entity, where: .attribute(attribute) != nil) > 0
        }
        let remarks = isQuiet ? [] : TruncatedList(found.remarks).lines({ "evolved: \($0)" }, hint: nil)
        return ModelSelection(model: found.model, remarks: remarks)
    }

    /// How many bytes of the JSON are looked at to say what `--evolve` would add: the rows are written, and nobody
    /// should wait for a remark.
    private static let glance = 32 << 10

    /// Says what `--evolve` would add where something of the JSON had no place.
    func suggestEvolving(
        _ model: SyncModel, after result: SyncResult, _ payloads: [Payload], as options: PayloadOptions
    ) {
        let hasMisfits = result.diagnostics.contains { $0.kind == .valueDoesNotFit }
        guard options.canEvolve, !changes.evolve, !result.unmappedKeys.isEmpty || hasMisfits,
            payloads.allSatisfy({ $0.data != nil })
        else {
            return
        }
        let size = Self.glance / max(1, payloads.count)
        let isWhole = payloads.allSatisfy { ($0.data?.count ?? 0) <= size }
        let found = try? ModelEvolution(of: model, by: samples(payloads, as: options, size: size))
        let additions = found?.remarks ?? []
        guard !additions.isEmpty else {
            if !isWhole { Terminal.writeError("note: --evolve extends the model by what the JSON has beyond it") }
            return
        }
        let added = TruncatedList(additions.map { "\($0)" as TerminalText }).text(between: "; ")
        Terminal.writeError("note: --evolve would add \(added)" + (isWhole ? "" : ", by the first records alone"))
    }

    private static func note(_ model: SyncModel) -> TerminalText {
        "note: no --model: inferred \(TruncatedList(model.entities.map(\.name)).text) from the JSON; 'syncdb schema infer' says why"
    }
}

/// The database a command reads.
struct DatabaseOptions: ParsableArguments {
    @Option(name: NamedDatabase.name, help: NamedDatabase.help, completion: Completions.database)
    var given: String?

    @Option(help: NamedDatabase.timeoutHelp)
    var busyTimeout: TimeoutArgument?

    private var path: String? { given ?? NamedDatabase.ofEnvironment }

    /// Checked to be there.
    var database: String { path ?? "" }

    var url: URL { URL(argument: database) }

    /// Whether there is more than an empty file, which only holds the place, as `mktemp` makes one.
    var exists: Bool {
        get throws {
            guard let status = try FileStatus.ofDatabase(at: database) else { return false }
            return !status.isRegular || status.size > 0
        }
    }

    /// Opens the database to look at, with the model it keeps. Neither creates nor changes one.
    func open() throws -> DataStack { try .existing(at: database) }

    func validate() throws {
        if path == nil {
            throw ValidationError(
                "Missing expected argument '--database <db>'; \(NamedDatabase.variable) in the environment does as well"
            )
        }
    }
}

/// `--database`, or what the environment has instead, and how long to wait for it.
///
/// No group of options of its own: where assertions are compiled, the argument parser checks groups inside of groups four times as
/// often with each level, which took most of the time of a debug build's runs.
enum NamedDatabase {
    static let variable = "SYNCDB_DATABASE"

    static var name: NameSpecification { [.customShort("d"), .customLong("database")] }
    static var help: ArgumentHelp {
        ArgumentHelp("The SQLite database. (default: \(variable) of the environment)", valueName: "db")
    }
    static var timeoutHelp: ArgumentHelp {
        ArgumentHelp(
            "How long to wait for a database that another process has locked: milliseconds, or as in 30s and 2m. "
                + "(default: 5s)", valueName: "time")
    }

    static var ofEnvironment: String? {
        let path = ProcessInfo.processInfo.environment[variable]
        return path?.isEmpty ?? true ? nil : path
    }
}

/// A model of its own, or that of a database: for commands that need one of them.
struct ModelOrDatabase: ParsableArguments {
    @Option(
        help: ArgumentHelp("The model: a schema file (.json) or a Core Data model.", valueName: "file"),
        completion: Completions.model)
    var model: String?

    @Option(name: NamedDatabase.name, help: NamedDatabase.help, completion: Completions.database)
    var given: String?

    @Option(help: NamedDatabase.timeoutHelp)
    var busyTimeout: TimeoutArgument?

    /// Nil where a model is given, whatever the environment says.
    var database: String? { model == nil ? given ?? NamedDatabase.ofEnvironment : given }

    func validate() throws {
        if (model == nil) == (database == nil) {
            throw ValidationError(
                "give either --model or --database (or \(NamedDatabase.variable) in the environment)")
        }
    }

    /// The one that was given.
    func loaded() throws -> SyncModel {
        if let model { return try SyncModel.file(model) }
        return try DataStack.existing(at: database ?? "").model
    }
}

/// The model of a database that a payload goes to, and how it may change.
struct ModelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The model: a schema file (.json) or a Core Data model (.xcdatamodel, .xcdatamodeld). Inferred for the first "
                + "import if left out, needed later only if it has changed.",
            valueName: "file"), completion: Completions.model)
    var model: String?

    @Flag(help: "With another model than the database has: lose what it has no place for.")
    var allowLoss = false

    var migration: MigrationPolicy { allowLoss ? .allowingLoss : .keepingData }

    @Flag(
        help: "Extend the database's model by what the JSON has beyond it: new keys and wider types. (Never removes.)")
    var evolve = false
}

/// The model a database is to have.
struct ModelSelection {
    let model: SyncModel
    /// What was added to it for the JSON's sake, in lines.
    var remarks: [TerminalText] = []

    /// Says what was added, which is true only once the database has taken it.
    func announce() {
        for line in remarks { Terminal.writeError(line) }
    }
}

/// A database that is there only once its first import has succeeded.
///
/// It is filled out of sight and then put in its place, so that neither an error nor a crash leaves an empty database where
/// later commands would find it, and none that somebody else makes meanwhile is lost.
struct NewDatabase {
    let url: URL

    init(at url: URL) { self.url = url }

    /// Gives `body` the empty store to fill.
    func fill<Result>(_ model: SyncModel, _ body: (DataStack) async throws -> Result) async throws -> Result {
        let draft = try StagedStoreFile(for: url)
        defer { draft.remove() }
        let stack = try DataStack(model: model, in: draft)
        let result = try await body(stack)
        try stack.close()
        guard try draft.publish() else {
            throw SyncError(
                .storeFailure, "'\(url.path)' was made by another process meanwhile; nothing was written to it")
        }
        return result
    }
}

extension FileStatus {
    /// What is where a database is, or will be; nil if nothing is. The path is looked at as it was given: a URL loses a slash
    /// at its end, and makes the current folder of an empty one.
    ///
    /// - Throws: ``SyncError`` `unreadableStore` if there can be no database.
    static func ofDatabase(at path: String) throws -> FileStatus? {
        do {
            if let status = try FileStatus.find(path) { return status }
            _ = try ResolvedPath(path)
        } catch let failure where failure.code != ENOENT || path.isEmpty {
            throw SyncError(.unreadableStore, "cannot open the database '\(path)'", underlying: failure.message)
        } catch {
            // The folder is missing.
        }
        return nil
    }
}

extension DataStack {
    /// Opens a database to look at, with the model it keeps. Neither creates nor changes one.
    static func existing(at path: String) throws -> DataStack {
        guard try FileStatus.ofDatabase(at: path) != nil else {
            throw SyncError(.unreadableStore, "there is no database '\(path)'; 'syncdb import' makes one")
        }
        return try DataStack(reading: URL(argument: path), transformers: .optional)
    }
}

extension SyncModel {
    /// Reads the model of a file that was named on the command line.
    static func file(_ path: String) throws -> SyncModel {
        do {
            // A URL would lose a slash at the end, and another file be read than is known to be.
            guard try FileStatus.find(path) != nil else {
                throw SyncError(.unreadableFile, "there is no model file '\(path)'")
            }
            return try SyncModel(contentsOf: URL(argument: path))
        } catch let error as SyncError {
            throw error.naming(path)
        } catch let failure as SystemError {
            throw SyncError(.unreadableFile, "cannot read '\(path)'", underlying: failure.message)
        }
    }
}
