import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The command `syncdb sync`, which pulls from and pushes to a web service.
struct SyncCommand: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Pull changes from a web service, then push local changes.",
        discussion: "Example: syncdb sync -d app.sqlite -c service.json --model model.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions
    @OptionGroup(title: "Sync") var running: EngineRunOptions

    func run() async throws {
        try await running.run(self) { engine, names in try await engine.sync(only: names) }
    }
}

/// The command `syncdb pull`, which pulls from a web service.
struct Pull: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Pull changes from a web service.",
        discussion: "Example: syncdb pull -d app.sqlite -c service.json --only Task")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions
    @OptionGroup(title: "Sync") var running: EngineRunOptions

    func run() async throws {
        try await running.run(self) { engine, names in try await engine.pull(only: names) }
    }
}

/// The command `syncdb push`, which pushes to a web service.
struct Push: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Push local changes to a web service.",
        discussion: "Example: syncdb push -d app.sqlite -c service.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions
    @OptionGroup(title: "Sync") var running: EngineRunOptions

    func run() async throws {
        try await running.run(self) { engine, names in try await engine.push(only: names) }
    }
}

/// A command for a database that is synced with a service.
protocol EngineCommand: InputCommand {
    var location: DatabaseOptions { get }
    var service: EngineOptions { get }
}

extension EngineCommand {
    var inputs: CommandInputs {
        CommandInputs(files: [service.config] + (service.model.map { [$0] } ?? []), database: location.database)
    }

    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    /// Opens the store. With `--model`, migrates the store to the model, or creates it if it does not exist.
    ///
    /// - Throws: ``UsageError`` if the store does not exist and the command line names no model.
    func stack() throws -> DataStack {
        if let model = service.model {
            let model = try SyncModel.file(model)
            do {
                return try DataStack(model: model, at: location.url, transformers: .optional)
            } catch let error as SyncError where error.isDataLoss {
                // These commands have no `--allow-loss`, so the hint names another command.
                throw HintedError(
                    error: error, hint: "use 'syncdb schema migrate --allow-loss' to accept the data loss")
            }
        }
        guard try location.exists else {
            throw UsageError("the database '\(location.database)' does not exist; name a --model to create it")
        }
        return try DataStack(at: location.url, transformers: .optional)
    }

    /// Opens a database that a service command has synced. Returns nil for a database without the engine's tables. An
    /// engine would create them, and its triggers would then record each import as a local change.
    ///
    /// - Throws: ``UsageError`` if the store does not exist.
    func syncedStack() async throws -> DataStack? {
        guard try location.exists else {
            throw UsageError("the database '\(location.database)' does not exist; 'syncdb sync' creates it")
        }
        let reader = try location.open()
        let isSynced = try await reader.hasSyncState()
        try reader.close()
        guard isSynced else { return nil }
        return try stack()
    }

    /// Returns the names of the chosen entities of the configuration, for a database that was not synced.
    ///
    /// - Throws: ``SyncError`` `unknownEntity` if the configuration does not have an entity.
    func unsyncedEntities(_ only: [String]?) throws -> [String] {
        try SyncedEntity.names(only, among: service.configuration(makesRequests: false).entities.map(\.name))
    }

    /// Creates the engine of the database.
    ///
    /// - Parameters:
    ///   - makesRequests: Whether the command sends requests.
    ///   - adjust: A closure that changes the configuration of the engine.
    func engine(
        _ stack: DataStack, makesRequests: Bool = true, _ adjust: (inout SyncEngine.Configuration) -> Void = { _ in }
    ) throws -> SyncEngine {
        let configuration = try service.configuration(makesRequests: makesRequests)
        var engineConfiguration = configuration.engineConfiguration
        adjust(&engineConfiguration)
        let command = configuration.credentialCommand.map {
            CredentialCommand($0, configuration.credentialHeader, timeout: configuration.timeout)
        }
        let credentials = command?.credentials ?? .none
        do {
            return try SyncEngine(
                stack: stack, service: configuration.service(credentials: credentials),
                entities: configuration.entities, configuration: engineConfiguration)
        } catch var error as SyncError where error.code == .unknownEntity {
            error.path = "entities" + (error.entity.map { ".\($0)" } ?? "")
            error.entity = nil
            throw error.naming(service.config)
        }
    }
}

/// The text for a database without the engine's tables.
enum UnsyncedDatabase {
    static let message = "this database has not been synced with a service yet"
}

/// The options for the service of a database.
struct EngineOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "The configuration of the service and its entities, in JSON (see Docs/engine-configuration.schema.json). Write "
                + "secrets as ${NAME}, the value of an environment variable.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var config: String

    @Option(
        help: ArgumentHelp(
            "The model: a schema file (.json) or a Core Data model. Needed for a new database or a changed model.",
            valueName: "file"), completion: Completions.model)
    var model: String?

    /// Reads the configuration of the service.
    ///
    /// - Parameter makesRequests: Whether the command sends requests. If false, most environment variables of the
    ///   configuration may be missing.
    func configuration(makesRequests: Bool) throws -> ServiceConfigurationFile {
        do {
            return try ServiceConfigurationFile(contentsOf: URL(argument: config), makesRequests: makesRequests)
        } catch let error as SyncError {
            throw error.naming(config)
        }
    }
}

/// The options of an engine run and its output.
struct EngineRunOptions: ParsableArguments {
    @OptionGroup var chosen: EntitySelection

    @Option(
        help: ArgumentHelp(
            "The total time to wait for a service that fails or asks to wait: seconds, or with a unit such as 2m. The sync "
                + "fails earlier if one request fails 'attempts' times (see the configuration). (default: 30)",
            valueName: "time"))
    var wait: WaitArgument?

    @Flag(
        help: ArgumentHelp(
            "Send requests at once, even if the service asked an earlier sync to wait."))
    var now = false

    @Option(
        help: ArgumentHelp(
            "The deletion limit of each entity, for rows that the service no longer lists: a number of rows, or a percentage "
                + "such as 10%; 100% allows all. (default: 50%, for entities with more than 10 rows)",
            valueName: "rows|percent"))
    var maxDelete: MaximumDeletion?

    @Flag(help: "Print the result as JSON.")
    var json = false

    @Flag(help: "Print only errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet cannot be used together") }
    }

    /// Runs the engine, shows its progress, and prints its report.
    func run(
        _ command: some EngineCommand, _ body: @escaping @Sendable (SyncEngine, [String]?) async throws -> SyncReport
    ) async throws {
        let stack = try command.stack()
        let engine = try command.engine(stack) { configuration in
            configuration.retryTimeout = .milliseconds(wait?.milliseconds ?? 30_000)
            configuration.backoffPolicy = now ? .none : .requested
            configuration.deletionLimit = (maxDelete ?? .standard).limit
        }
        let watch = RunProgress(engine, isQuiet: quiet)
        defer { watch.cancel() }
        let names = chosen.names
        // Dates in the conflict log are rounded down to milliseconds.
        let start = Date(timeIntervalSinceNow: -0.001)
        let report: SyncReport
        do {
            report = try await Interruption.cancelling(outcome: "completed work is kept, and the next sync continues") {
                try await body(engine, names)
            }
        } catch let error as SyncError where error.code == .deletionLimitExceeded {
            await watch.end()
            // Everything except the deletions was done.
            _ = try await show(engine.lastReport ?? SyncReport(), of: engine, since: start)
            throw HintedError(error: error, hint: SyncError.deletionLimitHint)
        }
        await watch.end()
        let status = try await show(report, of: engine, since: start)
        if status.contains(where: { $0.blockedChanges > 0 || $0.openConflicts > 0 }) {
            throw ExitCode(ExitStatus.blockedOrConflicting.rawValue)
        }
    }

    /// Prints the report of a run.
    private func show(
        _ report: SyncReport, of engine: SyncEngine, since start: Date
    ) async throws -> [EntityStatus] {
        let status = try await engine.status()
        if quiet { return status }
        let isAnyOpen = !json && report.total.conflicts > 0 && status.contains { $0.openConflicts > 0 }
        let conflicts = isAnyOpen ? try await engine.conflicts() : []
        let open = conflicts.filter { $0.isOpen && ($0.outcome?.date ?? start) >= start }
        let printer = SyncReportPrinter(report: report, status: status, open: open)
        try printer.print(asJSON: json)
        return status
    }
}
