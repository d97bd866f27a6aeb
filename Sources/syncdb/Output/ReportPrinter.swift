import Foundation
import SyncTesting

/// What became of scenario files, for people and for programs.
struct ReportPrinter {
    let report: ScenarioReport
    var style = Style.plain

    /// One line per failed case, then the summary.
    var failures: VisibleText {
        lines(report.results.filter { $0.outcome == .failed }.map(line))
    }

    /// One line per case, further failures of a case below it, then the summary.
    var everything: VisibleText {
        lines(report.results.flatMap { [line($0)] + $0.failures.dropFirst().map { "    \(text($0))" } })
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
    private func line(_ result: ScenarioReport.CaseResult) -> VisibleText {
        let word: VisibleText = "\(result.outcome.rawValue)"
        let start: VisibleText = "\(result.file) \(result.name)"
        switch result.outcome {
        case .passed: return "\(style.green(word)) \(start)"
        case .skipped: return "\(style.yellow(word)) \(start)" + (result.reason.map { ": \($0)" } ?? "")
        case .failed: return "\(style.red(word)) \(start)" + (result.failures.first.map { " \(text($0))" } ?? "")
        }
    }

    private func text(_ failure: ScenarioReport.Failure) -> VisibleText {
        let place: VisibleText = failure.step.map { "step \($0): " } ?? ""
        let comparison: VisibleText =
            failure.expected.isEmpty && failure.found.isEmpty
            ? "" : ": expected \(failure.expected), found \(failure.found)"
        return "\(place)\(failure.message)\(comparison)"
    }

    private func lines(_ lines: [VisibleText]) -> VisibleText {
        (lines + ["\(report.summary)"]).joined(separator: "\n")
    }
}
