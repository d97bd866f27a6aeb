import ArgumentParser
import Foundation
import Sync
import SyncTesting

/// The command `syncdb verify`, which runs scenario files.
struct Verify: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Run scenario files: what syncs of a model and its JSON are expected to do.",
        discussion: """
            Prints one line per failed case and a summary; ends with 1 if a case fails, or if there is none. A case that \
            needs custom code is skipped.

            Example: syncdb verify Scenarios/ --only notes-move-between-users
            """)

    @Argument(help: "Scenario files, or folders of them.", completion: .file(extensions: ["json"]))
    var paths: [String]

    @Option(help: ArgumentHelp("Run only the case of this name.", valueName: "name"))
    var only: String?

    @Flag(help: "Print a line for every case, and all that failed in it.")
    var verbose = false

    @Flag(help: "Print the report as JSON: {\"passed\": 12, \"failed\": 0, \"skipped\": 1, \"results\": […]}.")
    var json = false

    @Flag(help: "Print nothing; the exit code says whether all passed.")
    var quiet = false

    @OptionGroup var color: ColorOptions

    func validate() throws {
        if quiet && (json || verbose) { throw ValidationError("--quiet excludes --json and --verbose") }
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
        if !quiet { remark(on: report) }
        if !report.isSuccess { throw ExitCode.failure }
    }

    /// Prints a note about the cases that ran without transformers, which only a test can register.
    private func remark(on report: ScenarioReport) {
        let names = report.results.compactMap(\.missingTransformers)
        guard !names.isEmpty else { return }
        let all = TruncatedList(Set(names.joined()).sorted().map { "'\($0)'" as TerminalText }).text(between: ", ")
        let cases: TerminalText = names.count == 1 ? "1 case" : "\(names.count) cases"
        Terminal.writeError("note: \(cases) ran without transformers that the model names: " + all)
    }

    private func text(_ report: ScenarioReport) -> TerminalText {
        let printer = ReportPrinter(report: report, style: color.style)
        return verbose ? printer.everything : printer.failures
    }
}
