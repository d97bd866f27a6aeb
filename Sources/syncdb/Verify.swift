import ArgumentParser
import Foundation
import Sync
import SyncTesting

/// The command `syncdb verify`, which runs scenario files.
struct Verify: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Run scenario files: syncs with their expected results.",
        discussion: """
            Prints one line per failed case and a summary. Exits with 1 if a case fails or if there are no cases. Cases \
            that need a feature of an app, such as its own transformer, are skipped.

            Example: syncdb verify Scenarios/ --only notes-move-between-users
            """)

    @Argument(help: "The scenario files, or folders of scenario files.", completion: .file(extensions: ["json"]))
    var paths: [String]

    @Option(help: ArgumentHelp("Run only the case with this name.", valueName: "name"))
    var only: String?

    @Flag(help: "Print one line per case, and every failure of the case.")
    var verbose = false

    @Flag(help: "Print the report as JSON: {\"passed\": 12, \"failed\": 0, \"skipped\": 1, \"results\": […]}.")
    var json = false

    @Flag(help: "Print nothing. The exit code tells whether all cases passed.")
    var quiet = false

    @OptionGroup var color: ColorOptions

    func validate() throws {
        if quiet && (json || verbose) { throw ValidationError("--quiet cannot be used with --json or --verbose") }
    }

    var inputs: CommandInputs { CommandInputs(files: paths) }

    func run() async throws {
        let report = await ScenarioRunner(options: .init(namesMissingTransformers: true)).run(
            paths: paths.map { URL(argument: $0) }, only: only)
        if json {
            try Terminal.write(json: ReportPrinter(report: report).json())
        } else if !quiet {
            try Terminal.write(text(report))
        }
        if !quiet { warnAboutMissingTransformers(report) }
        if !report.isSuccess { throw ExitCode.failure }
    }

    /// Prints a note about the cases that ran without transformers that only an app can register.
    private func warnAboutMissingTransformers(_ report: ScenarioReport) {
        let names = report.results.compactMap(\.missingTransformers)
        guard !names.isEmpty else { return }
        let all = TruncatedList(Set(names.joined()).sorted().map { "'\($0)'" as TerminalText }).text(between: ", ")
        let cases: TerminalText = names.count == 1 ? "1 case" : "\(names.count) cases"
        Terminal.writeError("note: \(cases) ran without transformers that only an app can register: " + all)
    }

    private func text(_ report: ScenarioReport) -> TerminalText {
        let printer = ReportPrinter(report: report, style: color.style)
        return verbose ? printer.everything : printer.failures
    }
}
