import ArgumentParser
import Sync

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
