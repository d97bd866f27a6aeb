import ArgumentParser
import Sync

/// The model of a database that a payload goes to, and how it may change.
struct ModelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The model: a schema file (.json) or a Core Data model (.xcdatamodel, .xcdatamodeld). Inferred for the first "
                + "import if left out, needed later only if it has changed.",
            valueName: "file"), completion: Completions.model)
    var model: String?

    @Flag(help: "With another model than the database has: lose what it has no place for.")
    var allowLoss = false

    var migration: MigrationPolicy { allowLoss ? .allowingLoss : .keepingData }

    @Flag(
        help: "Extend the database's model by what the JSON has beyond it: new keys and wider types. (Never removes.)")
    var evolve = false
}
