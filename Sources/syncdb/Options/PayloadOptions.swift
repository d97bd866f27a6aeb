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

    @OptionGroup var layout: LayoutOptions

    /// Whether a model can be extended by the JSON.
    var canEvolve: Bool { layout.form != .jsonAPI }

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

    @Flag(help: "Refuse all of the JSON if a value in it does not fit, or records of one row contradict each other.")
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
                name: source.name, content: content, form: layout.form(isNDJSON: ndjson || source.isNDJSON))
        }
    }

    func recordPredicate() throws -> RecordPredicate? {
        try predicate.map { try RecordPredicate(parsing: $0) }
    }

    var options: SyncOptions {
        var options = SyncOptions(
            scope: scope.scope, payload: delta ? .delta : .snapshot, isStrict: strict,
            deletionGuard: (maxDelete ?? .standard).guardValue)
        options.keyedBy = layout.names
        options.keyPath = key.map { $0.split(separator: ".").map(String.init) } ?? []
        return options
    }

    func validate() throws {
        try EntityArgument.check(entityArguments)
        if !entities.isEmpty, parent != nil || predicate != nil {
            throw ValidationError("--where and --parent are about one entity, not about several lists")
        }
        if !entities.isEmpty, !layout.isPlain || ndjson {
            throw ValidationError("several lists are plain JSON: without --form, --keyed-by and --ndjson")
        }
        if ndjson, !layout.isPlain { throw ValidationError("--ndjson, --form and --keyed-by exclude each other") }
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
