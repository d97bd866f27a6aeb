import ArgumentParser
import Foundation
import Sync

/// The payload of a sync and its options, for `import` and `diff`.
struct PayloadOptions {
    let records: PayloadFileOptions
    let layout: PayloadFormatOptions
    let rules: SyncRuleOptions

    /// The entity of the records, or of the first of several lists.
    var entity: String { records.entity }

    /// The entity of each list by its key path; empty if `--entity` names no list.
    var entities: [String: String] { records.entities }

    /// Whether the JSON can extend a model.
    var canEvolve: Bool { layout.form != .jsonAPI }

    /// Reads all files before the sync writes anything, except files that are larger than `size`. The sync reads these
    /// in chunks.
    ///
    /// - Parameter size: The largest decompressed size of a file to read completely; nil to read all files completely.
    func read(wholeUpTo size: ByteCount?, _ progress: (Int, Int) -> Void) throws -> [Payload] {
        try records.files.map { file in
            let source = PayloadSource(file)
            let content =
                if let size {
                    try source.read(wholeUpTo: size, unpackingTo: rules.maxSize, progress)
                } else {
                    Payload.Content.whole(try source.read(unpackingTo: rules.maxSize, progress))
                }
            return Payload(
                name: source.name, content: content, format: layout.form(isNDJSON: rules.ndjson || source.isNDJSON))
        }
    }

    var options: SyncOptions {
        var options = SyncOptions(
            scope: rules.scope.scope, payloadKind: rules.delta ? .delta : .snapshot, isStrict: rules.strict,
            deletionLimit: (rules.maxDelete ?? .standard).limit,
            deletesBesideUnread: rules.deletesBesideUnread)
        options.keyedBy = layout.names
        options.keyPath = .init(rules.key ?? "")
        return options
    }

    /// Checks combinations of options from different groups.
    ///
    /// - Throws: `ValidationError` for an invalid combination.
    func validate() throws {
        let isPlain = layout.isPlain
        if !entities.isEmpty, rules.parent != nil || rules.predicate != nil {
            throw ValidationError("--where and --parent cannot be used with several lists")
        }
        if !entities.isEmpty, !isPlain || rules.ndjson {
            throw ValidationError("--form, --keyed, --keyed-by and --ndjson cannot be used with several lists")
        }
        if rules.ndjson, !isPlain {
            throw ValidationError("--ndjson, --form, --keyed and --keyed-by cannot be used together")
        }
        try layout.check(key: rules.key, ndjson: rules.ndjson, files: records.files)
    }
}

/// A command that syncs a payload into a database, or plans this sync: `import` and `diff`.
///
/// Each command declares the groups of options itself, and an extension of the protocol combines them. Nested groups
/// are slow: in a debug build, the argument parser checks a group four times as often at each level of nesting.
protocol PayloadCommand: InputCommand {
    var records: PayloadFileOptions { get }
    var layout: PayloadFormatOptions { get }
    var rules: SyncRuleOptions { get }

    var location: DatabaseOptions { get }
    var changes: ModelOptions { get }
    var key: KeyOptions { get }

    var result: ResultOptions { get }
    var list: ListOptions { get }
    var color: ColorOptions { get }
}

extension PayloadCommand {
    var payload: PayloadOptions { PayloadOptions(records: records, layout: layout, rules: rules) }
    var store: StoreOptions { StoreOptions(location: location, changes: changes, key: key) }
    var output: OutputOptions { OutputOptions(result: result, list: list, color: color) }

    var inputs: CommandInputs { store.inputs(with: records.files) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }
}

/// The files of a payload and the entities of their records.
struct PayloadFileOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The JSON: a .json or .ndjson file (one record per line), also compressed as .gz, or - for standard input. "
                + "Several files are pages of one list.",
            valueName: "file"),
        completion: Completions.payload)
    var files: [String]

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp(
            "The entity of the records. For a JSON object with several lists, one option per list: --entity users=User.",
            valueName: "name"),
        completion: Completions.entity)
    var entityArguments: [String]

    /// The entity of the records, or of the first of several lists.
    var entity: String { EntityArgument(entityArguments.first ?? "").entity }

    /// The entity of each list by its key path; empty if `--entity` names no list.
    var entities: [String: String] {
        EntityArgument.entities(entityArguments)
    }

    func validate() throws {
        try EntityArgument.check(entityArguments)
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("standard input (-) can be given once") }
    }
}

/// The options for the scope, the operations and the reading of a payload.
struct SyncRuleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The key path of the records inside the JSON, such as data.results.", valueName: "path"))
    var key: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "The scope: stored rows that match are deleted if the JSON omits them. (default: all rows; for an entity with "
                + "a to-one relationship to itself, the rows where it is null)",
            valueName: "predicate"))
    var predicate: String?

    @Option(
        help: ArgumentHelp(
            "The allowed operations, separated by commas. Those with 'Relationships' apply to the rows of nested to-many "
                + "relationships, the others to the rows of the records.", valueName: "names"))
    var operations: OperationList = OperationList(value: .all)

    @Option(
        help: ArgumentHelp(
            "The parent row of the records, as Entity:id. Add the relationship if several lead to the records, or if the id "
                + "contains colons.",
            valueName: "entity:id[:relationship]"))
    var parent: ParentArgument?

    @Option(
        help:
            "The scope without --where: automatic, or all rows even if the entity has a to-one relationship to itself.")
    var scope: ScopeArgument = .automatic

    @Option(
        help: ArgumentHelp(
            "The deletion limit of each entity: a number of rows, or a percentage such as 10%; 100% allows all. (default: "
                + "50%, for entities with more than 10 rows)",
            valueName: "rows|percent"))
    var maxDelete: MaximumDeletion?

    @Flag(help: "Treat the JSON as a delta: keep rows it omits. Nested lists are still complete.")
    var delta = false

    @Flag(
        help: ArgumentHelp(
            "Reject the JSON if a value has the wrong type, a record has no primary key, or records with one key are "
                + "inconsistent."))
    var strict = false

    @Flag(
        help: ArgumentHelp(
            "Delete omitted rows even if the primary key of a record cannot be read. (default: delete no omitted rows then, because "
                + "the record may describe any of them)"))
    var deletesBesideUnread = false

    @Option(
        help: ArgumentHelp(
            "The maximum size of compressed JSON after decompression, such as 500M or 4G.", valueName: "size"))
    var maxSize: ByteCount = .standard

    @Flag(help: "Read one record per line. (default for .ndjson files)")
    var ndjson = false

    func recordPredicate() throws -> RowPredicate? {
        try predicate.map { try RowPredicate(parsing: $0) }
    }

    func validate() throws {
        if let key, key.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            throw ValidationError("--key '\(key)' has an empty component")
        }
    }
}

/// The argument of `--scope`.
enum ScopeArgument: String, ExpressibleByArgument, CaseIterable {
    case automatic, all

    var scope: SyncOptions.Scope { self == .all ? .all : .automatic }
}

/// The argument of `--parent User:6`, `--parent User:6:notes`, or `--parent 'Issue:["swift",5]'`.
struct ParentArgument: ExpressibleByArgument, Equatable {
    let entity: String
    let id: String
    let relationship: String?

    /// Splits the argument at the first colon. Also splits it at the last colon if a name follows, because an ID such
    /// as a date may contain colons.
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        entity = String(argument[..<colon])
        let rest = argument[argument.index(after: colon)...]
        if let last = rest.lastIndex(of: ":"), Self.isName(rest[rest.index(after: last)...]) {
            id = String(rest[..<last])
            relationship = String(rest[rest.index(after: last)...])
        } else {
            id = String(rest)
            relationship = nil
        }
        guard !entity.isEmpty, !id.isEmpty else { return nil }
    }

    /// The parent row. Its ID is text, which the sync converts to the type of the primary key, or a JSON list or object
    /// for a composite key.
    var parent: SyncParent { SyncParent(entity, id: JSONValue(keyArgument: id), relationship: relationship) }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}

extension JSONValue {
    /// Creates a primary key from an argument. Text is later converted to the type of the key. A JSON list or object is
    /// a composite key.
    init(keyArgument text: String) {
        let parts = text.hasPrefix("[") || text.hasPrefix("{") ? try? JSONValue(parsing: text) : nil
        self = parts ?? .string(text)
    }
}

/// The argument of `--operations insert,update`.
struct OperationList: ExpressibleByArgument {
    let value: SyncOperations

    static let names = SyncOperations.names.map(\.name).joined(separator: ", ")

    init(value: SyncOperations) { self.value = value }

    init?(argument: String) {
        var value: SyncOperations = []
        for name in argument.filter({ $0 != " " }).split(separator: ",", omittingEmptySubsequences: false) {
            let operation = SyncOperations.names.first { $0.name == name }?.operation
            guard let operation = operation ?? (name == "all" ? .all : nil) else { return nil }
            value.formUnion(operation)
        }
        self.value = value
    }

    var defaultValueDescription: String { "all" }

    static var allValueStrings: [String] { SyncOperations.names.map(\.name) + ["all"] }
}

/// The argument of `--max-delete 20` or `--max-delete 10%`.
struct MaximumDeletion: ExpressibleByArgument {
    /// The deletion limit; nil for no limit.
    let limit: DeletionLimit?

    /// The default of the option.
    static let standard = MaximumDeletion(limit: .half)

    private init(limit: DeletionLimit?) { self.limit = limit }

    init?(argument: String) {
        if argument.hasSuffix("%") {
            guard let percent = Double(argument.dropLast()), (0...100).contains(percent) else { return nil }
            limit = percent == 100 ? nil : .fraction(percent / 100)
        } else {
            guard let rows = Int(argument), rows >= 0 else { return nil }
            limit = .rows(rows)
        }
    }
}

// MARK: - Format

/// The format of a payload that is not a single list of records, for all commands that read payloads.
struct PayloadFormatOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read one object of records, {\"AD\": {…}, \"AE\": {…}}, and store the object keys in this attribute.",
            valueName: "attribute"))
    var keyedBy: String?

    @Flag(help: "Read one object of records whose keys are the primary keys.")
    var keyed = false

    @Option(help: "The document format of the JSON.")
    var form: PayloadFormatArgument?

    /// Returns the format of a payload.
    func form(isNDJSON: Bool) -> PayloadFormat { form?.form ?? (isNDJSON ? .ndjson : .json) }

    var names: KeyedBy? { keyed ? .primaryKey : keyedBy.map { .attribute($0) } }

    /// Whether no option of this group is given, so that the format of the payload is `json` or `ndjson`.
    var isPlain: Bool { names == nil && form == nil }

    /// Checks that the format of the files allows a key path.
    ///
    /// - Throws: `ValidationError` for NDJSON and JSON:API.
    func check(key: String?, ndjson: Bool, files: [String]) throws {
        guard key != nil else { return }
        if form == .jsonAPI { throw ValidationError("--key cannot be used with --form json-api") }
        guard isPlain else { return }
        if ndjson { throw ValidationError("--key and --ndjson cannot be used together") }
        if let file = files.first(where: { PayloadSource($0).isNDJSON }) {
            throw ValidationError("--key cannot be used with '\(file)', which has one record per line")
        }
    }

    func validate() throws {
        if keyed, keyedBy != nil { throw ValidationError("--keyed and --keyed-by cannot be used together") }
        if names != nil, form != nil { throw ValidationError("--form cannot be used with --keyed or --keyed-by") }
    }
}

/// The argument of `--form`.
enum PayloadFormatArgument: String, ExpressibleByArgument, CaseIterable {
    case jsonAPI = "json-api"
    case graphQL = "graphql"

    var form: PayloadFormat { self == .jsonAPI ? .jsonAPI : .graphQL }
}

/// The argument of `--entity User`, or of `--entity users=User` for one of several lists.
struct EntityArgument {
    let path: String?
    let entity: String

    init(_ argument: String) {
        guard let sign = argument.firstIndex(of: "=") else {
            path = nil
            entity = argument
            return
        }
        path = String(argument[..<sign])
        entity = String(argument[argument.index(after: sign)...])
    }

    /// Returns the entity of each list by its key path; empty if no argument names a list.
    static func entities(_ arguments: [String]) -> [String: String] {
        let lists = arguments.map(Self.init).compactMap { list in list.path.map { ($0, list.entity) } }
        return Dictionary(lists) { first, _ in first }
    }

    /// Checks that each argument names an entity.
    ///
    /// - Throws: `ValidationError`.
    static func checkEntities(_ arguments: [String]) throws {
        guard let empty = arguments.first(where: { Self($0).entity.isEmpty }) else { return }
        let list = Self(empty).path.map { "\($0)=" } ?? ""
        throw ValidationError("--entity '\(empty)' has no entity name; write it as in --entity \(list)User")
    }

    /// Checks that each argument names an entity, and that several arguments name different lists.
    ///
    /// - Throws: `ValidationError` if an argument names no entity, if one of several arguments names no list, or if two
    ///   name the same list.
    static func check(_ arguments: [String]) throws {
        try checkEntities(arguments)
        let lists = arguments.map(Self.init)
        if lists.count(where: { $0.path == nil }) > (lists.count > 1 ? 0 : 1) {
            throw ValidationError("with several lists, each --entity must name its list, such as --entity users=User")
        }
        if let twice = lists.first(where: { list in lists.count { $0.path == list.path } > 1 }) {
            throw ValidationError("--entity names the list '\(twice.path ?? "")' twice")
        }
    }
}
