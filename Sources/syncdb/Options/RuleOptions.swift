import ArgumentParser
import Sync

/// What a payload speaks for, what it may do, and how it is read.
struct RuleOptions: ParsableArguments {
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

    @Flag(
        help: ArgumentHelp(
            "Refuse all of the JSON if a value in it does not fit, a record has no key, or records of one row contradict "
                + "each other."))
    var strict = false

    @Flag(
        help: ArgumentHelp(
            "Delete what the JSON leaves out also where a record in it has a key that cannot be read. (Else nothing is: the "
                + "record may be of any row.)"))
    var deletesBesideUnread = false

    @Option(
        help: ArgumentHelp("The most that packed JSON may unpack to, as in 500M or 4G.", valueName: "size"))
    var maxSize: ByteCount = .standard

    @Flag(help: "The JSON is one record a line. (default for .ndjson files)")
    var ndjson = false

    func recordPredicate() throws -> RecordPredicate? {
        try predicate.map { try RecordPredicate(parsing: $0) }
    }

    func validate() throws {
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
