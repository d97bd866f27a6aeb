import ArgumentParser
import Foundation
import Sync

/// How a sync's result is printed.
struct OutputOptions {
    let result: ResultOptions
    let list: ListOptions
    let color: ColorOptions

    var json: Bool { result.json }
    var quiet: Bool { result.quiet }

    /// Prints a result, with a line per row or the summary alone.
    func show(_ result: SyncResult, of model: SyncModel, withRows: Bool) throws {
        guard !quiet else { return }
        guard !json else { return try Terminal.write(json: ResultJSON.text(result)) }
        let printer = ResultPrinter(result: result, model: model, limit: list.limit, style: color.style)
        let rows = withRows ? printer.rows : ""
        try Terminal.write((rows.isEmpty ? "" : rows + "\n\n") + printer.summary)
        for remark in printer.remarks { Terminal.writeError(remark) }
    }

    /// Reads all files, with a line that shows how far unpacking is where they are packed.
    ///
    /// - Parameter size: Larger files are read later, in pieces; nil to read all.
    func read(_ payload: PayloadOptions, wholeUpTo size: ByteCount? = nil) throws -> [Payload] {
        let display = ProgressDisplay(isQuiet: quiet)
        defer { display?.clear() }
        return try payload.read(wholeUpTo: size) { done, total in
            display?.show(
                ProgressLine(
                    label: total > 0 ? "unpacking" : "reading", unit: .bytes, completed: done,
                    total: total > 0 ? total : nil))
        }
    }

    /// Runs a sync with a line that shows how far it is, which is gone before anything else is printed.
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

/// `--color`, and what it comes to here.
struct ColorOptions: ParsableArguments {
    /// When output is coloured.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @Option(
        help: ArgumentHelp(
            "Colour the output: auto (on a terminal, unless NO_COLOR is set), always or never.", valueName: "when"))
    var color: Choice = .auto

    /// How to write on standard output.
    var style: Style { Self.style(color, for: .output) }

    static func style(_ choice: Choice, for stream: Terminal.Stream) -> Style {
        switch choice {
        case .always: .init(isOn: true)
        case .never: .plain
        case .auto: .init(isOn: stream.isTerminal && Self.isWelcome(ProcessInfo.processInfo.environment))
        }
    }

    /// Whether the environment has nothing against colours: https://no-color.org, and terminals that have none.
    static func isWelcome(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty && environment["TERM", default: "dumb"] != "dumb"
    }

    /// How to write on standard error, where an error may be that the arguments could not be parsed.
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

/// Whether a sync's result is printed, and as what.
struct ResultOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: """
                For every entity the keys inserted, updated (with the attributes that changed) and deleted, and counts:
                {"entities": {"User": {"inserted": [7], "insertedCount": 1, …}}, "diagnostics": [], …}
                'diff' and --verbose add the values and the links.
                """))
    var json = false

    @Flag(help: "Print nothing but errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet exclude each other") }
    }
}

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

/// How much of a long list is printed for people.
struct ListOptions: ParsableArguments {
    @Flag(help: "List everything, not only the first 20 of a kind.")
    var all = false

    /// How many things of a kind are listed; nil for all.
    var limit: Int? { all ? nil : ShortListLimit.standard }
}
