import ArgumentParser
import Sync

/// `syncdb count`: how many rows an entity has.
struct Count: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Print how many rows an entity has.",
        discussion: "Example: syncdb count User --database app.sqlite --where 'age >= 18'")

    @Argument(help: "The entity. Rows of its sub-entities count too.", completion: Completions.entity)
    var entity: String

    @OptionGroup var location: DatabaseOptions

    @OptionGroup var condition: ConditionOptions

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }

    func run() async throws {
        let count = try await location.open().count(entity, where: condition.predicate())
        try Terminal.write("\(count)")
    }
}
