import ArgumentParser
import Foundation
import Sync

/// The database that is kept in step, and what with.
struct EngineOptions: ParsableArguments {
    @OptionGroup var location: DatabaseOptions

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "The service and the entities: JSON, as in Docs/engine-configuration.schema.json. Secrets stand there as ${NAME}, "
                + "for the value of an environment variable.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var config: String

    @Option(
        help: ArgumentHelp(
            "The model, needed for a new database, and where it has changed: a schema file (.json) or a Core Data model.",
            valueName: "file"), completion: Completions.model)
    var model: String?

    var inputs: CommandInputs {
        CommandInputs(files: [config] + (model.map { [$0] } ?? []), database: location.database)
    }

    func configuration() throws -> EngineConfiguration {
        do {
            return try EngineConfiguration(contentsOf: URL(argument: config))
        } catch let error as SyncError {
            throw error.naming(config)
        }
    }

    /// The store, made if it is not there.
    func stack() throws -> DataStack {
        if let model {
            let model = try SyncModel.file(model)
            do {
                return try DataStack(model: model, at: location.url, transformers: .optional)
            } catch let error as SyncError where error.code == .modelMismatch && !error.problems.isEmpty {
                // It is said by a command of its own.
                throw HintedError(error: error, hint: "'syncdb schema migrate --allow-loss' lets that go")
            }
        }
        guard try location.exists else {
            throw UsageError("there is no database '\(location.database)' yet: name its --model")
        }
        return try DataStack(at: location.url, transformers: .optional)
    }

    /// The engine of the database.
    ///
    /// - Parameter adjust: Changes settings of the configuration.
    func engine(
        _ stack: DataStack, _ adjust: (inout EngineSettings) -> Void = { _ in }
    ) throws -> SyncEngine {
        let configuration = try configuration()
        var settings = configuration.settings
        adjust(&settings)
        let command = configuration.credentialCommand.map {
            CredentialCommand($0, configuration.credentialHeader, timeout: configuration.timeout)
        }
        let credentials = command?.credentials ?? .none
        return try SyncEngine(
            stack: stack, service: configuration.service(credentials: credentials), entities: configuration.entities,
            settings: settings)
    }
}

/// What a run of the engine may do, and how it tells of it.
struct EngineRunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this entity. May be repeated.", valueName: "entity"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long to wait, altogether, for a service that fails or asks to be left alone: seconds. (default: 30)",
            valueName: "seconds"))
    var wait: Double?

    @Option(
        help: ArgumentHelp(
            "How many rows may go because the service does not list them any more: 20 or 10%. (default: half, of more than 10)",
            valueName: "rows"))
    var maxDelete: MaximumDeletion?

    @Flag(help: "Print the result as JSON.")
    var json = false

    @Flag(help: "Print nothing but errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet exclude each other") }
        if !(0...1e8).contains(wait ?? 0) { throw ValidationError("--wait is a number of seconds, 0 or more") }
    }

    /// Runs the engine, shows how far it is, and prints what it did.
    func run(
        _ options: EngineOptions, _ body: @escaping @Sendable (SyncEngine, [String]?) async throws -> SyncReport
    ) async throws {
        do {
            try await runEngine(options, body)
        } catch let error as SyncError {
            guard error.code == .deletionGuard else { throw error }
            throw HintedError(error: error, hint: SyncError.guardHint)
        }
    }

    private func runEngine(
        _ options: EngineOptions, _ body: @escaping @Sendable (SyncEngine, [String]?) async throws -> SyncReport
    ) async throws {
        let stack = try options.stack()
        let engine = try options.engine(stack) { settings in
            settings.patience = .milliseconds(Int64((wait ?? 30) * 1000))
            settings.deletionGuard = (maxDelete ?? .standard).guardValue
        }
        let watch = RunWatch(engine, isQuiet: quiet)
        defer { watch.cancel() }
        let names = only.isEmpty ? nil : only
        let report = try await Interruption.cancelling(outcome: "what was done stays done, and the next run goes on") {
            try await body(engine, names)
        }
        await watch.end()
        let status = try await engine.status()
        if !quiet { try SyncReportPrinter(report: report, status: status).print(asJSON: json) }
        if status.contains(where: { $0.parked > 0 || $0.conflicts > 0 }) { throw ExitCode(ExitStatus.waiting.rawValue) }
    }
}
