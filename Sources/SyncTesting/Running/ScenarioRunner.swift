public import Foundation

/// Runs scenario files: cases that say in JSON what a sync, a fetch or a name rule is expected to do.
///
/// ```swift
/// let report = await ScenarioRunner().run(paths: [URL(fileURLWithPath: "Fixtures/Scenarios")])
/// print(report.summary)  // 20 passed, 0 failed, 0 skipped
/// ```
///
/// Each case with steps has a store of its own, in memory unless it needs a file. After the last step the store must
/// pass `PRAGMA foreign_key_check` and `integrity_check`.
public struct ScenarioRunner: Sendable {
    /// What a runner does beyond what the files say.
    public struct Options: Sendable, Hashable {
        /// Whether each `sync` step that passed is made a second time and must then write nothing.
        public var repeatsSyncs: Bool
        /// Whether the store is compared with a ``ReferenceStore`` after each `sync` step, up to the first step that
        /// writes otherwise or that the reference does not know.
        public var checksReference: Bool

        /// The size in bytes of the pieces in which each payload is read; nil to read it whole.
        public var pieceSize: Int?
        /// Whether the store is a guest in the database of an app, and each sync but for pages a part of a transaction of
        /// the app's.
        public var isGuest: Bool
        /// Whether the tables of the store are those of an app, under other names, where the model allows that.
        public var isAdopted: Bool
        /// Whether results name the transformers that a case ran without, because only its model names them.
        public var namesMissingTransformers: Bool

        /// Options of a run; each is off by default.
        public init(
            repeatsSyncs: Bool = false, checksReference: Bool = false, pieceSize: Int? = nil,
            isGuest: Bool = false, namesMissingTransformers: Bool = false,
            isAdopted: Bool = false
        ) {
            self.isAdopted = isAdopted
            self.isGuest = isGuest
            self.namesMissingTransformers = namesMissingTransformers
            self.pieceSize = pieceSize
            self.repeatsSyncs = repeatsSyncs
            self.checksReference = checksReference
        }
    }

    private let facilities: ScenarioFacilities
    private let options: Options

    /// A runner that meets these needs of cases and skips cases with others.
    public init(facilities: ScenarioFacilities = .standard, options: Options = Options()) {
        self.facilities = facilities
        self.options = options
    }

    /// Runs the cases of files and folders.
    ///
    /// - Parameters:
    ///   - paths: Scenario files, or folders with nothing but scenario files at any depth. Of a folder that has a
    ///     folder `cases`, only that one is read.
    ///   - only: The name of the cases to run; nil for all.
    /// - Returns: A report in which a missing path, a file that is no scenario file, and a run without any case are
    ///   failures.
    public func run(paths: [URL], only: String? = nil) async -> ScenarioReport {
        var report = ScenarioReport()
        for path in paths {
            do {
                for file in try ScenarioFiles.files(at: path) {
                    report.results += await run(file: file, only: only)
                }
            } catch {
                report.results.append(.failed(file: path.path, name: "(path)", error.message))
            }
        }
        if report.results.isEmpty {
            let place = paths.map(\.path).joined(separator: ", ")
            let wanted = only.map { "a case named '\($0)'" } ?? "a case"
            report.results.append(.failed(file: place, name: "(path)", "\(wanted) was not found"))
        }
        return report
    }

    private func run(file url: URL, only: String?) async -> [ScenarioReport.CaseResult] {
        let file: ScenarioFile
        do {
            file = try ScenarioFile(contentsOf: url)
        } catch {
            return [.failed(file: url.path, name: "(file)", error.message)]
        }
        var results: [ScenarioReport.CaseResult] = []
        for entry in file.entries where only == nil || entry.name == only {
            results.append(await run(entry, of: file))
        }
        return results
    }

    private func run(_ entry: ScenarioFile.Entry, of file: ScenarioFile) async -> ScenarioReport.CaseResult {
        let scenario: Scenario
        switch entry.scenario {
        case .success(let decoded): scenario = decoded
        case .failure(let error):
            return .failed(file: file.url.path, name: entry.name, error.message, step: error.step)
        }
        let missing = facilities.missing(of: scenario.needs)
        guard missing.isEmpty else {
            return ScenarioReport.CaseResult(
                file: file.url.path, name: entry.name, outcome: .skipped,
                reason: "needs \(missing.joined(separator: ", "))")
        }
        let execution = ScenarioExecution(scenario, file: file, facilities: facilities, options: options)
        var failures = await execution.run()
        if failures.isEmpty, scenario.needs.contains(ScenarioFacilities.concurrency) {
            failures = await ParallelEvaluation(of: file, facilities: facilities).run()
        }
        var result = ScenarioReport.CaseResult(
            file: file.url.path, name: entry.name, outcome: failures.isEmpty ? .passed : .failed, failures: failures)
        if options.namesMissingTransformers { result.missingTransformers = execution.missingTransformers }
        return result
    }
}

extension ScenarioReport.CaseResult {
    /// A case or file that was not run because it is not what it should be.
    fileprivate static func failed(
        file: String, name: String, _ message: String, step: Int? = nil
    ) -> ScenarioReport.CaseResult {
        let failure = ScenarioReport.Failure(step: step, expected: "", found: "", message: message)
        return ScenarioReport.CaseResult(file: file, name: name, outcome: .failed, failures: [failure])
    }
}
