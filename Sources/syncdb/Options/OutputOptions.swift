import ArgumentParser
import Foundation
import Sync

/// The options for printing the result of a sync.
struct OutputOptions {
    let result: ResultOptions
    let list: ListOptions
    let color: ColorOptions

    var json: Bool { result.json }
    var quiet: Bool { result.quiet }

    /// Prints a result as JSON, or as a summary with notes. Prints nothing with `--quiet`.
    ///
    /// - Parameter withRows: Whether a line for each changed row precedes the summary.
    func show(_ result: SyncResult, of model: SyncModel, withRows: Bool) throws {
        guard !quiet else { return }
        guard !json else { return try Terminal.write(json: ResultJSON.text(result)) }
        let printer = ResultPrinter(result: result, model: model, limit: list.limit, style: color.style)
        let rows = withRows ? printer.rows : ""
        try Terminal.write((rows.isEmpty ? "" : rows + "\n\n") + printer.summary)
        for remark in printer.notes { Terminal.writeError(remark) }
    }

    /// Reads all files, and shows progress.
    ///
    /// - Parameter size: The largest decompressed size of a file to read completely; nil to read all files completely.
    ///   The sync reads larger files in chunks.
    func read(_ payload: PayloadOptions, wholeUpTo size: ByteCount? = nil) throws -> [Payload] {
        let display = ProgressDisplay(isQuiet: quiet)
        defer { display?.clear() }
        return try payload.read(wholeUpTo: size) { done, total in
            display?.show(
                ProgressLine(
                    label: total > 0 ? "decompressing" : "reading", unit: .bytes, completed: done,
                    total: total > 0 ? total : nil))
        }
    }

    /// Runs a sync with a progress line, which is removed before other output.
    func withProgress(
        _ options: SyncOptions, _ sync: (SyncOptions) async throws -> SyncResult
    ) async throws -> SyncResult {
        let display = ProgressDisplay(isQuiet: quiet)
        defer { display?.clear() }
        var options = options
        if let display { options.progress = { display.show(ProgressLine($0)) } }
        return try await sync(options)
    }
}

/// The option `--color`.
struct ColorOptions: ParsableArguments {
    /// The condition for colored output.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @Option(
        help: ArgumentHelp(
            "Color the output: auto (on a terminal, unless NO_COLOR is set), always or never.", valueName: "when"))
    var color: Choice = .auto

    /// The style for standard output.
    var style: Style { Self.style(color, for: .output) }

    static func style(_ choice: Choice, for stream: Terminal.Stream) -> Style {
        switch choice {
        case .always: .init(isOn: true)
        case .never: .plain
        case .auto: .init(isOn: stream.isTerminal && Self.isWelcome(ProcessInfo.processInfo.environment))
        }
    }

    /// Returns whether the environment permits colors: `NO_COLOR` (https://no-color.org) is not set or is empty, and
    /// the terminal supports colors.
    static func isWelcome(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty && environment["TERM", default: "dumb"] != "dumb"
    }

    /// The style for standard error. The property reads `--color` itself, because the error may be that the arguments
    /// are invalid.
    static var errorStyle: Style {
        let arguments = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        var choice = Choice.auto
        for (argument, next) in zip(arguments, Array(arguments.dropFirst()) + [""]) {
            if argument == "--color" { choice = Choice(rawValue: next) ?? choice }
            if argument.hasPrefix("--color=") { choice = Choice(rawValue: String(argument.dropFirst(8))) ?? choice }
        }
        return style(choice, for: .errors)
    }
}

/// The options for the result of a sync.
struct ResultOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: """
                For each entity: the keys of inserted, updated (with the changed attributes) and deleted rows, and counts:
                {"entities": {"User": {"inserted": [7], "insertedCount": 1, …}}, "diagnostics": [], …}
                'diff' and --verbose add values and links.
                """))
    var json = false

    @Flag(help: "Print only errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet cannot be used together") }
    }
}

/// The output formats of rows.
enum RowFormat: String, ExpressibleByArgument, CaseIterable {
    /// A table, for people.
    case table
    /// One line for each value, for people.
    case vertical
    /// A JSON array of objects.
    case json
    /// One JSON object on each line.
    case ndjson
    /// Comma-separated values (RFC 4180).
    case csv
    /// Tab-separated values.
    case tsv
    /// A Markdown table, as GitHub and others render it.
    case markdown
}

/// The option `--format`, and the older `--json`.
struct FormatOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The output format: table, vertical or markdown for people; json, ndjson, csv or tsv for programs.",
            valueName: "format"))
    var format: RowFormat?

    @Flag(
        help:
            "Print a JSON array with one object per row: [{\"id\": 1, \"name\": \"Ada\"}, …]. Same as --format json."
    )
    var json = false

    /// The chosen format; nil for the default.
    var chosen: RowFormat? { json ? .json : format }

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) cannot be used together")
        }
    }
}

/// The option for the length of printed lists.
struct ListOptions: ParsableArguments {
    @Flag(help: "List all items instead of the first 20 of each kind.")
    var all = false

    /// The largest number of entries of one kind; nil for all.
    var limit: Int? { all ? nil : TruncatedListLimit.standard }
}
