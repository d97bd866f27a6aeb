import Foundation
import SyncTesting

/// What became of scenario files, for people and for programs.
struct ReportPrinter {
    let report: ScenarioReport

    /// One line per failed case, then the summary.
    var failures: String {
        lines(report.results.filter { $0.outcome == .failed }.map(\.description))
    }

    /// One line per case, further failures of a case below it, then the summary.
    var everything: String {
        lines(report.results.flatMap { [$0.description] + $0.failures.dropFirst().map { "    \($0)" } })
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

    private func lines(_ lines: [String]) -> String {
        (lines + [report.summary]).joined(separator: "\n")
    }
}
