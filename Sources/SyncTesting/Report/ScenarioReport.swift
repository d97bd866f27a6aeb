public import Foundation

/// A report with the result of each test case in a run.
public struct ScenarioReport: Sendable, Hashable, Codable {
    /// The outcome of a test case.
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// All expectations are met.
        case passed
        /// An expectation is not met, or the test case could not be read or run. ``CaseResult/failures`` describes the
        /// failure.
        case failed
        /// The test case requires a feature that the runner does not provide. ``CaseResult/reason`` names the feature.
        case skipped
    }

    /// An expectation that is not met, or an unexpected error.
    public struct Failure: Sendable, Hashable, Codable {
        /// The number of the step, from 1; nil for a function, a file, or the final state of the store.
        public var step: Int?
        /// The expected value, as JSON or a description; empty if nothing could be compared.
        public var expected: String
        /// The found value, as JSON or a description; empty if nothing could be compared.
        public var found: String
        /// The compared property, or the error.
        public var message: String
    }

    /// The result of one test case, or of a path or file that could not be read.
    public struct CaseResult: Sendable, Hashable, Codable {
        /// The path of the scenario file.
        public var file: String
        /// The name of the test case.
        public var name: String
        /// The outcome of the test case.
        public var outcome: Outcome
        /// The failures. A test case stops at its first failing step.
        public var failures: [Failure] = []
        /// The reason for skipping the test case; nil if the test case was not skipped.
        public var reason: String?
        /// The transformers that the model names and the runner does not register. The value is nil if there are none,
        /// if no steps ran, or if ``ScenarioRunner/Options/namesMissingTransformers`` is false.
        package var missingTransformers: [String]?
    }

    /// The result of each test case, in the order of the files and of the test cases in each file.
    public var results: [CaseResult] = []

    /// The number of test cases that passed.
    public var passed: Int { count(.passed) }
    /// The number of test cases that failed.
    public var failed: Int { count(.failed) }
    /// The number of test cases that were skipped.
    public var skipped: Int { count(.skipped) }

    /// True if the report has test cases, and if no test case failed.
    public var isSuccess: Bool { failed == 0 && !results.isEmpty }

    /// A summary in one line, such as `20 passed, 0 failed, 1 skipped`.
    public var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }

    private func count(_ outcome: Outcome) -> Int {
        results.reduce(0) { $0 + ($1.outcome == outcome ? 1 : 0) }
    }
}

extension ScenarioReport.CaseResult: CustomStringConvertible {
    /// A description in one line: the outcome, the file and the name, followed by the first failure or the reason for
    /// skipping the test case.
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
    /// A description in one line, such as `step 3: count of User: expected 8, found 7`.
    public var description: String {
        let place = step.map { "step \($0): " } ?? ""
        let comparison = expected.isEmpty && found.isEmpty ? "" : ": expected \(expected), found \(found)"
        return "\(place)\(message)\(comparison)".split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

extension ScenarioReport.Failure: LocalizedError {
    /// The value of ``description``, for use as `localizedDescription`.
    public var errorDescription: String? { description }
}
