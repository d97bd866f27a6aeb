import ArgumentParser
import Sync

/// Which rows a command reads.
struct ConditionOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only rows that match, as in \"age >= 18 AND company.name IS NOT NULL\".", valueName: "predicate"))
    var text: String?

    func predicate() throws -> RecordPredicate {
        try text.map { try RecordPredicate(parsing: $0) } ?? .all
    }
}
