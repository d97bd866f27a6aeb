import ArgumentParser
import Sync

/// `syncdb query`: rows of an entity.
struct Query: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print rows of an entity.",
        discussion: """
            On a terminal the table is as wide as that, and long values are cut; elsewhere values are whole. The forms for \
            people show control characters as escapes; json, ndjson, csv and tsv are exact.

            Examples:
              syncdb query User -d app.sqlite --where 'age >= 18' --order-by -age --limit 9
              syncdb query Note -d app.sqlite --columns id,user.login --format csv
            """)

    @Argument(help: "The entity. Rows of its sub-entities are its rows too.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: ConditionOptions

    @OptionGroup(title: "Rows") var selection: SelectionOptions

    @OptionGroup(title: "Rows") var shown: ColumnOptions

    @OptionGroup(title: "Output") var form: FormatOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: WaitingTime? { location.busyTimeout }

    func run() async throws {
        let stack = try location.open()
        let rows = try stack.selection(
            of: entity, columns: shown.columns?.paths, where: condition.predicate(),
            orderedBy: selection.order,
            limit: selection.limit, offset: selection.offset)
        try await RowPrinter(form.chosen, style: color.style).print(rows, of: stack)
    }
}
