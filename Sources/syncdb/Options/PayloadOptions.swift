import ArgumentParser
import Foundation
import Sync

/// What is synced and how: shared by `import` and `diff`.
struct PayloadOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The JSON: a .json or .ndjson file (one record a line), either also packed as .gz, or - for standard input. "
                + "Several files are pages of one list.",
            valueName: "file"),
        completion: Completions.payload)
    var files: [String]

    @Option(help: ArgumentHelp("The entity of the records.", valueName: "name"), completion: Completions.entity)
    var entity: String

    @Option(help: ArgumentHelp("The keys that lead to the records inside the JSON: data.results", valueName: "path"))
    var key: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Which stored rows the JSON speaks for: of these, the ones it leaves out are deleted. "
                + "(default: all; for an entity that refers to itself, its top level)",
            valueName: "predicate"))
    var predicate: String?

    @Option(
        help: ArgumentHelp(
            "What may be done: any of \(OperationList.names), separated by commas.", valueName: "names"))
    var operations: OperationList = OperationList(value: .all)

    @Option(
        help: ArgumentHelp(
            "The row the records belong to, as Entity:id, and the relationship if there are several. "
                + "(An id with colons needs the relationship too.)",
            valueName: "entity:id[:relationship]"))
    var parent: ParentArgument?

    @Option(help: "What the JSON speaks for: automatic, or all rows also of an entity that refers to itself.")
    var scope: ScopeArgument = .automatic

    @Option(
        help: ArgumentHelp(
            "The most that may be deleted of one entity: a number of rows, or a part as in 10%. 100% allows all. "
                + "(default: half, of an entity with more than 10 rows)",
            valueName: "rows|percent"))
    var maxDelete: MaximumDeletion?

    @Flag(help: "The JSON is only what changed: rows that it leaves out are kept. (Lists inside records are whole.)")
    var delta = false

    @Flag(help: "Refuse all of the JSON if a value in it does not fit its attribute.")
    var strict = false

    @Option(
        help: ArgumentHelp("The most that packed JSON may unpack to, as in 500M or 4G.", valueName: "size"))
    var maxSize: ByteCount = .standard

    @Flag(help: "The JSON is one record a line. (default for .ndjson files)")
    var ndjson = false

    /// Reads all files, before anything is written, but for those that are larger than `size`.
    ///
    /// - Parameter size: Nil if all are needed whole.
    func read(wholeUpTo size: ByteCount?, _ progress: (Int, Int) -> Void) throws -> [Payload] {
        try files.map { file in
            let source = PayloadSource(file)
            let content =
                if let size {
                    try source.read(wholeUpTo: size, unpackingTo: maxSize, progress)
                } else {
                    Payload.Content.whole(try source.read(unpackingTo: maxSize, progress))
                }
            return Payload(
                name: source.name, content: content, form: ndjson || source.isNDJSON ? .ndjson : .json)
        }
    }

    func recordPredicate() throws -> RecordPredicate? {
        try predicate.map { try RecordPredicate(parsing: $0) }
    }

    var options: SyncOptions {
        var options = SyncOptions(
            scope: scope.scope, payload: delta ? .delta : .snapshot, isStrict: strict,
            deletionGuard: (maxDelete ?? .standard).guardValue)
        options.keyPath = key.map { $0.split(separator: ".").map(String.init) } ?? []
        return options
    }

    func validate() throws {
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("standard input (-) can be given once") }
        if let key, key.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            throw ValidationError("--key '\(key)' has an empty part")
        }
    }
}

/// `--scope`.
enum ScopeArgument: String, ExpressibleByArgument, CaseIterable {
    case automatic, all

    var scope: SyncOptions.Scope { self == .all ? .all : .automatic }
}
