import ArgumentParser
import Sync

/// `syncdb count`: how many rows an entity has.
struct Count: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Print how many rows an entity has.",
        discussion: "Example: syncdb count User -d app.sqlite --where 'age >= 18'")

    @Argument(help: "The entity. Rows of its sub-entities count too.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: ConditionOptions

    @Option(
        help: ArgumentHelp(
            "Print it as a row with the column 'count': table, vertical, markdown, json, ndjson, csv or tsv. "
                + "(default: the number alone)",
            valueName: "format"))
    var format: RowFormat?

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: WaitingTime? { location.busyTimeout }

    func run() async throws {
        let count = try await location.open().count(entity, where: condition.predicate())
        switch format {
        case nil: try Terminal.write("\(count)")
        case .json: try Terminal.write(json: "[\n  {\"count\": \(count)}\n]")
        case .ndjson: try Terminal.write(json: "{\"count\": \(count)}")
        default:
            try await RowPrinter(format, style: color.style).print([RowColumn(title: "count", isNumeric: true)]) {
                append in
                try append { $0.add("\(count)") }
            }
        }
    }
}
