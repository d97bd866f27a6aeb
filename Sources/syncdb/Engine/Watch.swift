import ArgumentParser
import Foundation
import Sync

/// The command `syncdb watch`, which prints changes of rows as other processes write them.
struct Watch: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print changes to rows as other processes write them, until Ctrl-C.",
        discussion: """
            Prints one line per row, like 'diff': + inserted, ~ updated, - deleted. The changes of one transaction are \
            printed together; transactions within one interval are combined. With --where, a row that no longer matches is \
            printed as deleted.

            Examples:
              syncdb watch User -d app.sqlite --where 'age >= 18'
              syncdb watch Order -d app.sqlite --json | while read -r changes; do …; done
            """)

    @Argument(help: "The entity. Includes the rows of its subentities.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: PredicateOptions

    @Option(
        help: ArgumentHelp(
            "The time between two checks for changes: milliseconds, or with a unit such as 2s. (default: 200ms)",
            valueName: "time"))
    var interval: TimeoutArgument?

    @Flag(help: "Exit after the first changes.")
    var once = false

    @Flag(
        help: ArgumentHelp(
            "Print the changes as JSON, one line per check that found some.",
            discussion: """
                The value of "entities" in the output of 'diff --json':
                {"User": {"inserted": [9], "insertedRows": [{"key": 9, "values": {…}}], …}}
                """))
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions
    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    func run() async throws {
        let stack = try location.open()
        let predicate = try condition.predicate()
        // Read the version first. A commit between the two reads is then compared once more instead of missed.
        var version = try await stack.version()
        var rows = try await stack.snapshot(of: entity, where: predicate)
        Terminal.writeError(
            "watching \(rows.count) row\(rows.count == 1 ? "" : "s") of \(entity); press Ctrl-C to stop")
        while true {
            try await Task.sleep(for: .milliseconds(Int(interval?.milliseconds ?? 200)))
            let now = try await stack.version()
            if now == version { continue }
            version = now
            let later = try await stack.snapshot(of: entity, where: predicate)
            let result = SnapshotDifference(from: rows, to: later).result(of: entity)
            rows = later
            if result.isEmpty { continue }
            try show(result, of: stack.model)
            if once { return }
        }
    }

    private func show(_ result: SyncResult, of model: SyncModel) throws {
        if json { return try Terminal.write(json: ResultJSON.line(result.entities)) }
        try Terminal.write(
            ResultPrinter(result: result, model: model, limit: list.limit, style: color.style).rows)
    }

    func validate() throws {
        if interval?.milliseconds == 0 { throw ValidationError("--interval must be greater than 0") }
    }
}

/// A display of the progress and delays of an engine run. On a terminal, it uses the progress line. Otherwise, it
/// prints only delays, to standard error.
struct RunProgress {
    /// The shortest delay that is printed if standard error is not a terminal.
    private static let minimumReportedWait = Duration.seconds(1)

    private let display: ProgressDisplay?
    private let task: Task<Void, Never>?

    /// Starts to show the events of an engine.
    ///
    /// - Parameter isQuiet: Whether to print only errors.
    init(_ engine: SyncEngine, isQuiet: Bool) {
        let display = ProgressDisplay(isQuiet: isQuiet)
        self.display = display
        // Create the stream before the task, because the task may begin after the run.
        let events = engine.events
        task =
            isQuiet
            ? nil
            : Task {
                for await event in events {
                    switch event {
                    case .finished, .failed: return
                    case .waiting(let time, let reason): Self.report(time, reason, display)
                    case .phase, .pulled, .pushed: ProgressLine(event).map { display?.show($0) }
                    }
                }
            }
    }

    private static func report(_ time: Duration, _ reason: String, _ display: ProgressDisplay?) {
        let seconds = Int((Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18).rounded(.up))
        let text = TerminalText("waiting \(seconds) s: \(reason)")
        if let display {
            display.say(text)
        } else if time >= minimumReportedWait {
            Terminal.writeError(text)
        }
    }

    /// Waits until all events of the run are shown.
    func end() async {
        await task?.value
        display?.clear()
    }

    /// Stops the display. This is needed if the run ended without a final event.
    func cancel() {
        task?.cancel()
        display?.clear()
    }
}

extension ProgressLine {
    /// Creates the progress of an event; nil for events without a number.
    fileprivate init?(_ event: SyncEvent) {
        switch event {
        case .pulled(let entity, let rows, let total):
            self.init(label: "pull \(entity)", unit: .rows, completed: rows, total: total)
        case .pushed(let rows, let total):
            self.init(label: "push", unit: .rows, completed: rows, total: total)
        case .phase, .waiting, .finished, .failed: return nil
        }
    }
}

/// The argument of `--wait 2m`: a number of seconds, or with the unit `ms`, `s` or `m`.
struct WaitArgument: ExpressibleByArgument, Equatable {
    let milliseconds: Int64

    init?(argument: String) {
        let time = TimeoutArgument.milliseconds(argument, plain: 1000)
        // The limit is about three years.
        guard let time, time <= 1e11 else { return nil }
        milliseconds = Int64(time)
    }
}
