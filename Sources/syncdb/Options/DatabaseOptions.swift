import ArgumentParser
import Foundation
import Sync

/// The database a command reads.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup var named: NamedDatabase

    /// Checked to be there.
    var database: String { named.path ?? "" }

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
        if named.path == nil {
            throw ValidationError(
                "Missing expected argument '--database <db>'; \(NamedDatabase.variable) in the environment does as well"
            )
        }
    }
}

/// `--database`, or what the environment has instead, and how long to wait for it.
struct NamedDatabase: ParsableArguments {
    static let variable = "SYNCDB_DATABASE"

    @Option(
        name: [.customShort("d"), .long],
        help: ArgumentHelp(
            "The SQLite database. (default: \(NamedDatabase.variable) of the environment)", valueName: "db"),
        completion: Completions.database)
    var database: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for a database that another process has locked: milliseconds, or as in 30s and 2m. "
                + "(default: 5s)", valueName: "time"))
    var busyTimeout: WaitingTime?

    var path: String? { database ?? Self.ofEnvironment }

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

    @OptionGroup var named: NamedDatabase

    /// Nil where a model is given, whatever the environment says.
    var database: String? { model == nil ? named.path : named.database }

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
