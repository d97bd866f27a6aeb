import ArgumentParser
import Foundation
import Sync
import SyncTools

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
    @OptionGroup var chosen: ChosenEntities

    @Option(
        help: ArgumentHelp(
            "How long to wait, altogether, for a service that fails or asks to be left alone: seconds, or as in 2m. A request "
                + "that fails as often as 'attempts' of the configuration says ends it first. (default: 30)",
            valueName: "time"))
    var wait: RunPatience?

    @Flag(
        help: ArgumentHelp(
            "Ask at once, also a service that asked an earlier run to be left alone. (After a failure of the network no run is "
                + "kept waiting.)"))
    var now = false

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
    }

    /// Runs the engine, shows how far it is, and prints what it did.
    func run(
        _ command: some EngineCommand, _ body: @escaping @Sendable (SyncEngine, [String]?) async throws -> SyncReport
    ) async throws {
        let stack = try command.stack()
        let engine = try command.engine(stack) { settings in
            settings.patience = .milliseconds(wait?.milliseconds ?? 30_000)
            settings.earlierWaits = now ? .none : .asked
            settings.deletionGuard = (maxDelete ?? .standard).guardValue
        }
        let watch = RunWatch(engine, isQuiet: quiet)
        defer { watch.cancel() }
        let names = chosen.names
        // The log has milliseconds.
        let start = Date(timeIntervalSinceNow: -0.001)
        let report: SyncReport
        do {
            report = try await Interruption.cancelling(outcome: "what was done stays done, and the next run goes on") {
                try await body(engine, names)
            }
        } catch let error as SyncError where error.code == .deletionGuard {
            await watch.end()
            // All but the deletions was done.
            _ = try await show(engine.lastReport ?? SyncReport(), of: engine, since: start, isComplete: false)
            throw HintedError(error: error, hint: SyncError.guardHint)
        }
        await watch.end()
        let status = try await show(report, of: engine, since: start)
        if status.contains(where: { $0.parked > 0 || $0.conflicts > 0 }) { throw ExitCode(ExitStatus.waiting.rawValue) }
    }

    /// Prints what a run did.
    ///
    /// - Parameter isComplete: Whether it did all there was to do.
    private func show(
        _ report: SyncReport, of engine: SyncEngine, since start: Date, isComplete: Bool = true
    ) async throws -> [EntityStatus] {
        let status = try await engine.status()
        if quiet { return status }
        let isAnyOpen = !json && report.total.conflicts > 0 && status.contains { $0.conflicts > 0 }
        let open = isAnyOpen ? try await engine.conflicts().filter { $0.winner == "open" && $0.time >= start } : []
        let printer = SyncReportPrinter(report: report, status: status, open: open, isComplete: isComplete)
        try printer.print(asJSON: json)
        return status
    }
}
