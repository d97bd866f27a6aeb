import ArgumentParser
import Sync

/// How a payload is laid out, where that is not one list of records: shared by `import`, `diff` and `doctor`.
struct LayoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The JSON is an object whose members are the records, {\"AD\": {…}, \"AE\": {…}}: the attribute that their "
                + "names fill.",
            valueName: "attribute"))
    var keyedBy: String?

    @Flag(help: "The same, where the names are the values of the primary key.")
    var keyed = false

    @Option(help: "The JSON is a document of a known form: json-api, or graphql.")
    var form: FormArgument?

    /// The form of a payload.
    func form(isNDJSON: Bool) -> SyncOptions.Form { form?.form ?? (isNDJSON ? .ndjson : .json) }

    var names: MemberNames? { keyed ? .primaryKey : keyedBy.map { .attribute($0) } }

    /// Whether it is one list of records, or a record a line.
    var isPlain: Bool { names == nil && form == nil }

    func validate() throws {
        if keyed, keyedBy != nil { throw ValidationError("--keyed and --keyed-by exclude each other") }
        if names != nil, form != nil { throw ValidationError("--keyed-by and --form exclude each other") }
    }
}

/// `--form`.
enum FormArgument: String, ExpressibleByArgument, CaseIterable {
    case jsonAPI = "json-api"
    case graphQL = "graphql"

    var form: SyncOptions.Form { self == .jsonAPI ? .jsonAPI : .graphQL }
}

/// `--entity User`, or `--entity users=User` for one list of several.
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
}
