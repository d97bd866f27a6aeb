import ArgumentParser
import Foundation
import Sync

/// `syncdb watch`: what becomes of rows, as others write.
struct Watch: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what becomes of rows, as other processes write them, until Ctrl-C.",
        discussion: """
            One line per row, as 'diff' prints them: + is new, ~ differs, - is gone. What one transaction wrote comes \
            together; of several between two looks the sum does. A row that the condition does not hold for any more \
            is gone.

            Examples:
              syncdb watch User -d app.sqlite --where 'age >= 18'
              syncdb watch Order -d app.sqlite --json | while read -r changes; do …; done
            """)

    @Argument(help: "The entity. Rows of its sub-entities are its rows too.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: ConditionOptions

    @Option(
        help: ArgumentHelp(
            "How often to look: milliseconds, or as in 2s. Looking costs next to nothing while nobody writes. "
                + "(default: 200ms)", valueName: "time"))
    var interval: WaitingTime?

    @Flag(help: "End after the first changes.")
    var once = false

    @Flag(
        help: ArgumentHelp(
            "Print JSON, a line for each time something changed.",
            discussion: """
                Entity by entity what 'diff --json' says under "entities":
                {"User": {"inserted": [9], "insertedRows": [{"key": 9, "values": {…}}], …}}
                """))
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions
    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: WaitingTime? { location.busyTimeout }

    func run() async throws {
        let stack = try location.open()
        let predicate = try condition.predicate()
        // The version first: what is committed in between is seen twice rather than never.
        var version = try await stack.version()
        var rows = try await stack.snapshot(of: entity, where: predicate)
        Terminal.writeError("watching \(rows.count) row\(rows.count == 1 ? "" : "s") of \(entity); Ctrl-C ends it")
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
        if interval?.milliseconds == 0 { throw ValidationError("--interval must be longer than nothing") }
    }
}
