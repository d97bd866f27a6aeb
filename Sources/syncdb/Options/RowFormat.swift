import ArgumentParser

/// How rows are written.
enum RowFormat: String, ExpressibleByArgument, CaseIterable {
    /// In columns, for people.
    case table
    /// A line per value, for people.
    case vertical
    /// An array of objects.
    case json
    /// An object a line.
    case ndjson
    /// Values between commas, by RFC 4180.
    case csv
    /// The same between tabs.
    case tsv
    /// A table as GitHub and others show it.
    case markdown
}

/// `--format`, and `--json`, which is older.
struct FormatOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How to print rows: table, vertical or markdown for people, json, ndjson, csv or tsv for programs.",
            valueName: "format"))
    var format: RowFormat?

    @Flag(
        help:
            "Print a JSON array with one object per row: [{\"id\": 1, \"name\": \"Ada\"}, …]. The same as --format json."
    )
    var json = false

    /// What was chosen, if anything was.
    var chosen: RowFormat? { json ? .json : format }

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) exclude each other")
        }
    }
}
