public import Foundation

/// What became of the cases of a run.
public struct ScenarioReport: Sendable, Hashable, Codable {
    /// How a case ended.
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// Every expectation was met.
        case passed
        /// An expectation was not met, or the case could not be read or run: see ``CaseResult/failures``.
        case failed
        /// It needs what this run does not have: see ``CaseResult/reason``.
        case skipped
    }

    /// An expectation that was not met, or an error that was not expected.
    public struct Failure: Sendable, Hashable, Codable {
        /// The number of the step, from 1; nil for a function, a file, or the state of the store at the end.
        public var step: Int?
        /// What was expected, as JSON or in words; empty if nothing could be compared.
        public var expected: String
        /// What was found instead.
        public var found: String
        /// What was compared, or what went wrong.
        public var message: String

        /// A failure with all its parts.
        public init(step: Int? = nil, expected: String, found: String, message: String) {
            self.step = step
            self.expected = expected
            self.found = found
            self.message = message
        }
    }

    /// One case of a file, or a whole file that could not be read.
    public struct CaseResult: Sendable, Hashable, Codable {
        /// The path of the file, as the run was given it.
        public var file: String
        /// The name of the case.
        public var name: String
        /// How it ended.
        public var outcome: Outcome
        /// What failed. A case stops at its first failing step.
        public var failures: [Failure]
        /// Why a case was skipped.
        public var reason: String?
        /// The transformers that its model names and that it ran without; nil if there are none, or nobody asked.
        public var missingTransformers: [String]?

        /// The result of one case.
        public init(
            file: String, name: String, outcome: Outcome, failures: [Failure] = [], reason: String? = nil
        ) {
            self.file = file
            self.name = name
            self.outcome = outcome
            self.failures = failures
            self.reason = reason
        }
    }

    /// In the order of the files and of the cases in them.
    public var results: [CaseResult]

    /// A report of these results.
    public init(results: [CaseResult] = []) { self.results = results }

    /// How many cases passed.
    public var passed: Int { count(.passed) }
    /// How many cases failed.
    public var failed: Int { count(.failed) }
    /// How many cases were skipped.
    public var skipped: Int { count(.skipped) }

    /// Whether cases were run and none failed.
    public var isSuccess: Bool { failed == 0 && !results.isEmpty }

    /// `N passed, N failed, N skipped`.
    public var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }

    private func count(_ outcome: Outcome) -> Int {
        results.reduce(0) { $0 + ($1.outcome == outcome ? 1 : 0) }
    }
}

extension ScenarioReport.CaseResult: CustomStringConvertible {
    /// One line: the outcome, the file, the name, and of a failure the step, what was expected and what was found.
    public var description: String {
        let start = "\(outcome.rawValue) \(file) \(name)"
        switch outcome {
        case .passed: return start
        case .skipped: return reason.map { "\(start): \($0)" } ?? start
        case .failed: return failures.first.map { "\(start) \($0)" } ?? start
        }
    }
}

extension ScenarioReport.Failure: CustomStringConvertible {
    /// `step 3: count of User: expected 8, found 7`, on one line.
    public var description: String {
        let place = step.map { "step \($0): " } ?? ""
        let comparison = expected.isEmpty && found.isEmpty ? "" : ": expected \(expected), found \(found)"
        return "\(place)\(message)\(comparison)".split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

extension ScenarioReport.Failure: LocalizedError {
    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }
}
