import ArgumentParser
import Foundation
import Sync

/// The database a command reads.
struct DatabaseOptions: ParsableArguments {
    @Option(name: NamedDatabase.name, help: NamedDatabase.help, completion: Completions.database)
    var given: String?

    @Option(help: NamedDatabase.timeoutHelp)
    var busyTimeout: WaitingTime?

    private var path: String? { given ?? NamedDatabase.ofEnvironment }

    /// Checked to be there.
    var database: String { path ?? "" }

    var url: URL { URL(argument: database) }

    /// Whether there is more than an empty file, which only holds the place, as `mktemp` makes one.
    var exists: Bool {
        get throws {
            guard let status = try FileStatus.ofDatabase(at: database) else { return false }
            return !status.isRegular || status.size > 0
        }
    }

    /// Opens the database to look at, with the model it keeps. Neither creates nor changes one.
    func open() throws -> DataStack { try .existing(at: database) }

    func validate() throws {
        if path == nil {
            throw ValidationError(
                "Missing expected argument '--database <db>'; \(NamedDatabase.variable) in the environment does as well"
            )
        }
    }
}

/// `--database`, or what the environment has instead, and how long to wait for it.
///
/// No group of options of its own: where assertions are compiled, the argument parser checks groups inside of groups four times as
/// often with each level, which took most of the time of a debug build's runs.
enum NamedDatabase {
    static let variable = "SYNCDB_DATABASE"

    static var name: NameSpecification { [.customShort("d"), .customLong("database")] }
    static var help: ArgumentHelp {
        ArgumentHelp("The SQLite database. (default: \(variable) of the environment)", valueName: "db")
    }
    static var timeoutHelp: ArgumentHelp {
        ArgumentHelp(
            "How long to wait for a database that another process has locked: milliseconds, or as in 30s and 2m. "
                + "(default: 5s)", valueName: "time")
    }

    static var ofEnvironment: String? {
        let path = ProcessInfo.processInfo.environment[variable]
        return path?.isEmpty ?? true ? nil : path
    }
}

/// A model of its own, or that of a database: for commands that need one of them.
struct ModelOrDatabase: ParsableArguments {
    @Option(
        help: ArgumentHelp("The model: a schema file (.json) or a Core Data model.", valueName: "file"),
        completion: Completions.model)
    var model: String?

    @Option(name: NamedDatabase.name, help: NamedDatabase.help, completion: Completions.database)
    var given: String?

    @Option(help: NamedDatabase.timeoutHelp)
    var busyTimeout: WaitingTime?

    /// Nil where a model is given, whatever the environment says.
    var database: String? { model == nil ? given ?? NamedDatabase.ofEnvironment : given }

    func validate() throws {
        if (model == nil) == (database == nil) {
            throw ValidationError(
                "give either --model or --database (or \(NamedDatabase.variable) in the environment)")
        }
    }

    /// The one that was given.
    func loaded() throws -> SyncModel {
        if let model { return try SyncModel.file(model) }
        return try DataStack.existing(at: database ?? "").model
    }
}
