import ArgumentParser
import Sync

/// Which rows a command prints, and in which order.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var condition: ConditionOptions

    @Option(
        help: ArgumentHelp(
            "The attributes to sort by, as in lastName,-age with a minus for the largest first; --order-by=-age if it "
                + "is the first. (default: the primary key)",
            valueName: "attributes"))
    var orderBy: String?

    @Option(help: ArgumentHelp("Print at most so many rows.", valueName: "n"))
    var limit: Int?

    var order: RecordOrder { RecordOrder(orderBy?.split(separator: ",").map(String.init) ?? []) }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    }
}
