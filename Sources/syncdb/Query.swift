import ArgumentParser
import Foundation
import Sync

/// The command `syncdb query`, which prints rows of an entity.
struct Query: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print the rows of an entity.",
        discussion: """
            On a terminal, tables fit its width and long values are shortened; elsewhere values are complete. The formats \
            table, vertical and markdown escape control characters; json, ndjson, csv and tsv are exact.

            Examples:
              syncdb query User -d app.sqlite --where 'age >= 18' --order-by -age --limit 9
              syncdb query Note -d app.sqlite --columns id,user.login --format csv
            """)

    @Argument(help: "The entity. Includes the rows of its subentities.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: PredicateOptions

    @OptionGroup(title: "Rows") var selection: SelectionOptions

    @OptionGroup(title: "Rows") var shown: ColumnOptions

    @OptionGroup(title: "Output") var form: FormatOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    func run() async throws {
        let stack = try location.open()
        let rows = try selection.explainingOrder {
            try stack.selection(
                of: entity, columns: shown.columns?.paths, where: condition.predicate(),
                orderedBy: selection.order,
                limit: selection.limit, offset: selection.offset)
        }
        try await RowPrinter(form.chosen, style: color.style).print(rows, of: stack)
    }
}

/// The command `syncdb count`, which prints the number of rows of an entity.
struct Count: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Count the rows of an entity.",
        discussion: "Example: syncdb count User -d app.sqlite --where 'age >= 18'")

    @Argument(help: "The entity. Includes the rows of its subentities.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: PredicateOptions

    @Option(
        help: ArgumentHelp(
            "Print a row with the column 'count' in this format: table, vertical, markdown, json, ndjson, csv or tsv. "
                + "(default: only the number)",
            valueName: "format"))
    var format: RowFormat?

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

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

/// The range and the order of the rows that a command prints.
struct SelectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The attributes or paths to sort by, such as company.name,-age; a minus sorts in descending order. If the "
                + "first one is descending, write --order-by=-age. (default: the primary key)",
            valueName: "paths"))
    var orderBy: String?

    @Option(help: ArgumentHelp("Print at most this many rows.", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("Skip this many rows.", valueName: "n"))
    var offset = 0

    var order: RowOrder {
        RowOrder((orderBy ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }

    /// Runs a closure that uses the order. An error about a term in the syntax of SQL, such as `age desc`, gets a hint.
    func explainingOrder<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SyncError where error.code == .unknownAttribute {
            for term in (orderBy ?? "").split(separator: ",") {
                let words = term.split(separator: " ").map(String.init)
                guard words.count == 2, error.message.contains(" \(words[1])'") else { continue }
                let path = String(words[0].drop { $0 == "-" })
                if words[1].lowercased() == "desc" {
                    throw HintedError(error: error, hint: "for descending order write --order-by=-\(path)")
                }
                if words[1].lowercased() == "asc" {
                    throw HintedError(error: error, hint: "for ascending order write --order-by=\(path)")
                }
            }
            throw error
        }
    }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
        if offset < 0 { throw ValidationError("--offset cannot be negative") }
    }
}

/// The condition for the rows that a command reads.
struct PredicateOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only rows that match, such as \"age >= 18 AND company.name IS NOT NULL\".", valueName: "predicate"))
    var text: String?

    func predicate() throws -> RowPredicate {
        try text.map { try RowPredicate(parsing: $0) } ?? .all
    }
}

/// The columns that a command prints.
struct ColumnOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The columns to print: attributes, to-one relationships (their foreign key), paths such as user.login, and "
                + "counts such as notes.@count. (default: all attributes and to-one relationships)",
            valueName: "paths"))
    var columns: ColumnList?
}

/// The argument of `--columns id,title,user.login`.
struct ColumnList: ExpressibleByArgument {
    let paths: [String]

    init?(argument: String) {
        paths = argument.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard paths.allSatisfy({ !$0.isEmpty }) else { return nil }
    }
}
