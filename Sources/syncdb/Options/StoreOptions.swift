import ArgumentParser
import Foundation
import Sync

/// The database a command reads.
struct DatabaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The SQLite database.", valueName: "db"), completion: Completions.database)
    var database: String

    var url: URL { URL(fileURLWithPath: database) }
    var exists: Bool { FileManager.default.fileExists(atPath: database) && !NewDatabase.isEmptyFile(url) }

    /// Opens the database to look at, with the model it keeps. Neither creates nor changes one.
    func open() throws -> DataStack { try .existing(at: database) }
}

/// The database a payload goes to, and the model of a new one.
struct StoreOptions: ParsableArguments {
    @OptionGroup var location: DatabaseOptions

    @Option(
        help: ArgumentHelp(
            "The model: a schema file (.json) or a Core Data model (.xcdatamodel, .xcdatamodeld). Needed for the first "
                + "import, later only if it has changed.",
            valueName: "file"), completion: Completions.model)
    var model: String?

    @Flag(help: "With another model than the database has: lose what it has no place for.")
    var allowLoss = false

    var migration: MigrationPolicy { allowLoss ? .allowingLoss : .keepingData }

    /// The model named on the command line, if one is.
    func givenModel() throws -> Model? {
        try model.map { try Model.file($0) }
    }

    /// The model of a database that is not there yet.
    func modelForNewDatabase() throws -> Model {
        guard let model = try givenModel() else {
            throw UsageError("there is no database '\(location.database)' yet: --model must say what it will keep")
        }
        return model
    }
}
