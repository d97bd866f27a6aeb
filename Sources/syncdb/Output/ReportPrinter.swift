import Foundation
import SyncTesting

/// What became of scenario files, for people and for programs.
struct ReportPrinter {
    let report: ScenarioReport
    var style = Style.plain

    /// One line per failed case, then the summary.
    var failures: String {
        lines(report.results.filter { $0.outcome == .failed }.map(line))
    }

    /// One line per case, further failures of a case below it, then the summary.
    var everything: String {
        lines(report.results.flatMap { [line($0)] + $0.failures.dropFirst().map { "    \($0)" } })
    }

    /// The numbers, then all cases.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let form = Form(
            passed: report.passed, failed: report.failed, skipped: report.skipped, results: report.results)
        return String(decoding: try encoder.encode(form), as: UTF8.self)
    }

    private struct Form: Encodable {
        let passed: Int
        let failed: Int
        let skipped: Int
        let results: [ScenarioReport.CaseResult]
    }

    /// The outcome stands out; it is the first word of the line.
    private func line(_ result: ScenarioReport.CaseResult) -> String {
        let word = result.outcome.rawValue
        let styled =
            switch result.outcome {
            case .passed: style.green(word)
            case .failed: style.red(word)
            case .skipped: style.yellow(word)
            }
        return styled + result.description.dropFirst(word.count)
    }

    private func lines(_ lines: [String]) -> String {
        (lines + [report.summary]).joined(separator: "\n")
    }
}
