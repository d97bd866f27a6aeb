import ArgumentParser
import Sync

/// `syncdb query`: rows of an entity.
struct Query: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print rows of an entity.",
        discussion: "Example: syncdb query User --database app.sqlite --where 'age >= 18' --order-by name --limit 10")

    @Argument(help: "The entity. Rows of its sub-entities are its rows too.", completion: Completions.entity)
    var entity: String

    @OptionGroup var location: DatabaseOptions

    @OptionGroup var condition: ConditionOptions

    @Option(
        help: ArgumentHelp(
            "The attributes to sort by, as in lastName,-age with a minus for the largest first; --order-by=-age if it "
                + "is the first. (default: the primary key)",
            valueName: "attributes"))
    var orderBy: String?

    @Option(help: ArgumentHelp("Print at most so many rows.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Print a JSON array with one object per row: [{\"id\": 1, \"name\": \"Ada\"}, …].")
    var json = false

    @OptionGroup var color: ColorOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    }

    func run() async throws {
        let stack = try location.open()
        let order = RecordOrder(orderBy?.split(separator: ",").map(String.init) ?? [])
        let records = try await stack.fetch(entity, where: condition.predicate(), orderedBy: order, limit: limit)
        let printer = RecordPrinter(
            records: records, attributes: try stack.model.attributes(of: entity), style: color.style)
        Terminal.write(json ? printer.json : printer.table)
    }
}

extension Model {
    /// An entity's attributes, inherited ones first.
    fileprivate func attributes(of name: String) throws -> [Attribute] {
        let entity = try compiled.entity(named: name)
        return entity.slots.map { compiled.trees[entity.tree].attributes[$0] }
    }
}
