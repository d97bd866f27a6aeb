import ArgumentParser
import Sync

/// `syncdb query`: rows of an entity.
struct Query: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print rows of an entity.",
        discussion: "Example: syncdb query User --database app.sqlite --where 'age >= 18' --order-by name --limit 10")

    @Argument(help: "The entity. Rows of its sub-entities are its rows too.", completion: Completions.entity)
    var entity: String

    @OptionGroup var location: DatabaseOptions

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Print a JSON array with one object per row: [{\"id\": 1, \"name\": \"Ada\"}, …].")
    var json = false

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }

    func run() async throws {
        let stack = try location.open()
        let records = try await stack.fetch(
            entity, where: selection.condition.predicate(), orderedBy: selection.order, limit: selection.limit)
        let printer = RecordPrinter(
            records: records, attributes: try stack.model.attributes(of: entity), style: color.style)
        try json ? Terminal.write(json: printer.json) : Terminal.write(printer.table)
    }
}

extension Model {
    /// An entity's attributes, inherited ones first.
    fileprivate func attributes(of name: String) throws -> [Attribute] {
        let entity = try compiled.entity(named: name)
        return entity.slots.map { compiled[entity.table].attributes[$0] }
    }
}
