import ArgumentParser
import Sync

/// How many of the rows a command prints, and in which order.
struct SelectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What to sort by: attributes and paths as in company.name,-age, with a minus for the largest first; "
                + "--order-by=-age if it is the first. (default: the primary key)",
            valueName: "paths"))
    var orderBy: String?

    @Option(help: ArgumentHelp("Print at most so many rows.", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("Pass over so many rows first.", valueName: "n"))
    var offset = 0

    var order: RecordOrder { RecordOrder(orderBy?.split(separator: ",").map(String.init) ?? []) }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
        if offset < 0 { throw ValidationError("--offset cannot be negative") }
    }
}
