import ArgumentParser
import Foundation
import Sync

/// What a database is kept in step with.
struct EngineOptions: ParsableArguments {
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

    /// - Parameter makesRequests: Whether the service is asked anything: else no variable of the environment has to be set.
    func configuration(makesRequests: Bool) throws -> EngineConfiguration {
        do {
            return try EngineConfiguration(contentsOf: URL(argument: config), makesRequests: makesRequests)
        } catch let error as SyncError {
            throw error.naming(config)
        }
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
        _ command: some EngineCommand, _ body: @escaping @Sendable (SyncEngine, [String]?) async throws -> SyncReport
    ) async throws {
        do {
            try await runEngine(command, body)
        } catch let error as SyncError {
            guard error.code == .deletionGuard else { throw error }
            throw HintedError(error: error, hint: SyncError.guardHint)
        }
    }

    private func runEngine(
        _ command: some EngineCommand, _ body: @escaping @Sendable (SyncEngine, [String]?) async throws -> SyncReport
    ) async throws {
        let stack = try command.stack()
        let engine = try command.engine(stack) { settings in
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
