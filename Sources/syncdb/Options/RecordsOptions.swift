import ArgumentParser
import Sync

/// The files of a payload, and the entities of their records.
struct RecordsOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The JSON: a .json or .ndjson file (one record a line), either also packed as .gz, or - for standard input. "
                + "Several files are pages of one list.",
            valueName: "file"),
        completion: Completions.payload)
    var files: [String]

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp(
            "The entity of the records. For a JSON object with several lists once for each, as in users=User.",
            valueName: "name"),
        completion: Completions.entity)
    var entityArguments: [String]

    /// The entity of the records; of several lists, that of the first.
    var entity: String { EntityArgument(entityArguments.first ?? "").entity }

    /// The entity of each list, by the keys that lead to it; empty if the JSON has one list.
    var entities: [String: String] {
        EntityArgument.entities(entityArguments)
    }

    func validate() throws {
        try EntityArgument.check(entityArguments)
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("standard input (-) can be given once") }
    }
}
